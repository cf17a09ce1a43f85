// Composes a page from its data: sections of charts, tables and responses. The data is the JSON of
// tools/analyze/report/report.h, or that of `lie_replay score --html` (tools/replay/score_command.cpp).
// Texts of a run enter the page as text nodes only, never as HTML. charts.js draws the charts.
"use strict";
const data = JSON.parse(document.querySelector("#data").textContent);
const subjects = data.subjects ?? [], several = subjects.length > 1;
const isTuning = subjects.length > 0 && !subjects.some(({curves}) => curves.accuracy);

// What the reader chose. controls.js changes it and keeps it when the page is read again.
const view = {x: "step", log: false, smoothing: 0, hidden: new Set(), step: null};
const axisNames = {step: "step", tokens: isTuning ? "response tokens" : "generated tokens", hours: "hours"};
// An axis is offered if it is known of every subject.
const axes = Object.keys(axisNames).filter(name => name === "step" || subjects.length > 0 && subjects.every(({progress}) => progress[name].length > 0));

// Shows control characters and marks that change the text direction (Unicode standard annex 9).
function visible(text) {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  return String(text).replace(hidden, c => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// Makes an element. A child is an element, a text, or null, which is skipped.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat().filter(child => child !== null).map(child => child instanceof Node ? child : visible(child)));
  return made;
}

// Classes of a run's lines and marks. After eight colors the dash pattern differs.
const styleOf = number => `c${number % 8 + 1}` + (number % 32 >= 8 ? ` d${Math.floor(number / 8) % 4 + 1}` : "");
const mark = run => make("i", {class: styleOf(run)});
const green = styleOf(2), purple = styleOf(3), rose = styleOf(4), gold = styleOf(5), teal = styleOf(6), grey = styleOf(7);

const shortNumber = number => number !== 0 && (Math.abs(number) < 1e-3 || Math.abs(number) >= 1e7) ? number.toExponential(3) : String(Number(number.toPrecision(5)));

// Returns what a chart says whose series never change, "0.001 at every step", or "" if one changes.
function constantText({x, kind, series}) {
  const shown = series.filter(({points}) => points.length > 0), values = shown.map(({points}) => points[0][1]);
  const isConstant = shown.every(({points}, i) => points.every(p => p.length === 2 && p[1] === values[i]));
  if (x !== "step" || kind === "scatter" || !isConstant || !shown.some(({points}) => points.length > 1)) return "";
  const isOne = values.every(value => value === values[0]);
  return (isOne ? shortNumber(values[0]) : shown.map(({name}, i) => `${name} ${shortNumber(values[i])}`).join(", ")) + " at every step";
}

// Returns a fragment that no other chart of the page has: "chart-accuracy-training-prompts".
const fragments = new Set();
function fragmentOf(title) {
  const base = "chart-" + visible(title).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60);
  let fragment = base;
  for (let n = 2; fragments.has(fragment); ++n) fragment = `${base}-${n}`;
  fragments.add(fragment);
  return fragment;
}

// Returns a chart as a line of text that opens it.
function folded(figure, words) {
  const run = figure.dataset?.run, own = run === undefined ? {} : {"data-run": run};
  return figure.localName === "details" ? figure :
    make("details", {...own, class: "folded"}, make("summary", {}, make("b", {}, figure.querySelector("figcaption b").textContent), `: ${words}`), figure);
}

// Returns a chart, or null if no series has a point. A chart whose values never change is folded. A point is [x, y] or [x, y, low, high].
// `run` is the index of its only subject, which hides the chart; a series has the same.
function chart({title, note = "", series, ...rest}) {
  const shape = {x: "step", kind: "lines", log: false, share: false, low: null, high: null, run: -1, ...rest};
  shape.series = series.map(s => ({dashed: false, run: -1, ...s, points: s.points.filter(p => !shape.log || p[1] > 0)}));
  if (shape.series.every(s => s.points.length === 0)) return null;
  const own = shape.run < 0 ? {} : {"data-run": shape.run}, constant = constantText(shape);
  const figure = make("figure", {...own, id: fragmentOf(title)},
                      make("figcaption", {}, make("b", {}, title), note === "" ? null : make("small", {}, note)));
  figure.insertAdjacentHTML("beforeend", "<svg viewBox='0 0 440 236' role=img tabindex=0><g class=plot></g>" +
                                         "<text class=label x=428 y=231 text-anchor=end></text></svg>");
  figure.querySelector("svg").setAttribute("aria-label", visible(title));
  figure.chart = shape;
  return constant === "" ? figure : folded(figure, constant);
}

const curve = (run, metric) => subjects[run].curves[metric] ?? [];
const isZero = series => series.points.every(p => p[1] === 0);

// Returns the chart of one metric with a line for each subject.
function compared(metric, title, note = "", {fromZero = false, unlessZero = false, like = ""} = {}) {
  const series = subjects.map(({name}, run) => ({name, style: styleOf(run), run, points: curve(run, metric)}));
  if (unlessZero && series.every(isZero)) return null;
  const made = chart({title, note, share: data.shares.includes(metric), low: fromZero ? 0 : null, series});
  return made !== null && like !== "" && subjects.every((_, run) => isSame(curve(run, metric), curve(run, like))) ? folded(made, `equal to ${like} at every step`) : made;
}
const isSame = (one, other) => one.length === other.length && one.every(([step, value], i) => step === other[i][0] && value === other[i][1]);
const fromZero = {fromZero: true}, unlessZero = {unlessZero: true};
const titled = (title, run) => several ? `${title} · ${subjects[run].name}` : title;

// Returns a chart of related metrics for each subject. A part is [metric, name, style]; those that are
// zero throughout are omitted. Of a thinned curve only the steps that all metrics keep are stacked.
function composed(title, note, parts, kind) {
  const isStackable = ([step]) => kind !== "stacked" || data.grid === null || data.grid.includes(step);
  return subjects.map((_, run) => chart({
    title: titled(title, run), note, kind, run, low: 0,
    series: parts.map(([metric, name, style]) => ({name, style, points: curve(run, metric).filter(isStackable)})).filter(s => !isZero(s)),
  }));
}

// Returns a chart of the mean length with bands of its quantiles; the median is dashed.
function lengthQuantiles(run) {
  const values = quantile => new Map(curve(run, `response_length_${quantile}`).map(([step, y]) => [step, y]));
  const medians = values("p50"), style = styleOf(run);
  const band = (name, lows, highs) => ({
    name, style, dashed: true,
    points: [...medians].filter(([step]) => lows.has(step) && highs.has(step)).map(([step, y]) => [step, y, lows.get(step), highs.get(step)]),
  });
  if (medians.size === 0) return null;
  return chart({
    title: titled("Length quantiles", run), note: "tokens", run, low: 0,
    series: [band("median, 5–95 %", values("p05"), values("p95")), band("median, 25–75 %", values("p25"), values("p75")),
             {name: "mean", style, points: [...values("mean")]}],
  });
}

function learning() {
  const sources = data.sources.map(({name, metric}) => compared(metric, `Accuracy, ${name}`, "held-out prompts of this source"));
  return [
    compared("accuracy", "Accuracy, training prompts", "95 % interval"),
    compared("generated_accuracy", "Accuracy, training prompts, with dropped groups", "all generated"),
    compared("eval_accuracy", "Accuracy, held-out prompts", "95 % interval"),
    compared("response_length_mean", "Response length", "mean, tokens", fromZero),
    compared("eval_response_length_mean", "Response length, held-out", "mean, tokens", fromZero),
    compared("truncation_rate", "Truncation rate", "share cut at the response limit", fromZero),
    sources.length === 0 ? null : compared(data.source_mean, "Accuracy, held-out, mean over sources", "each weighted equally"),
    sources,
    subjects.map((_, run) => lengthQuantiles(run)),
  ];
}

function tuning() {
  return [
    compared("loss", "Loss", "nats a response token, mean of the batch"),
    compared("validation_loss", "Validation loss", "nats a response token"),
    compared("response_tokens", "Response tokens a step", "", fromZero),
    compared("step_seconds", "Seconds a step", "", fromZero),
  ];
}

function exploration() {
  return [
    compared("c_context_mean", "C_context", "distinct n-grams of a response, mean", fromZero),
    compared("r_context_mean", "R_context", "C_context / n-grams, mean"),
    compared("c_global_step", "C_global, step", "distinct n-grams over a step"),
    compared("c_global_run", "C_global, run so far", "distinct n-grams"),
    compared("entropy_mean", "Entropy", "nats a token, mean", fromZero),
    compared("largest_repeat_mean", "Largest repeat", "occurrences of the most frequent n-gram"),
    data.ngrams.map(n => [compared(`c_context_${n}_mean`, `C_context, n = ${n}`, "mean", unlessZero),
                          compared(`c_global_${n}_run`, `C_global, run so far, n = ${n}`, "distinct n-grams")]),
    composed("Entropy by position", "nats a token",
             [["entropy_quarter_1_mean", "first quarter of a response", teal], ["entropy_quarter_2_mean", "second", green],
              ["entropy_quarter_3_mean", "third", gold], ["entropy_quarter_4_mean", "last", rose]], "lines"),
  ];
}

// Shows where responses end and how rare long ones are, at the start (dashed) and at the end of the run.
function trap() {
  const lines = name => subjects.flatMap(({name: subject, trap}, run) => ["start", "end"].map(end =>
    ({name: `${subject}, ${end}`, style: styleOf(run), dashed: end === "start", run, points: trap[name][end]})));
  const pairs = subjects.map(({name, trap}, run) =>
    ({name: `${name}, r within a step = ${trap.correlation}`, style: styleOf(run), run, points: trap.length_and_coverage}));
  const longest = Math.max(0, ...pairs.flatMap(({points}) => points.map(([length]) => length)));
  const diagonal = {name: "C = L", style: grey, dashed: true, points: [[0, 0], [longest, longest]]};
  return [
    chart({title: "End-of-sequence hazard", note: "if the position is reached", x: "position, tokens", low: 0, series: lines("hazard")}),
    chart({title: "Length tail", note: "share of responses of at least L tokens", x: "L, tokens", log: true, series: lines("tail")}),
    longest > 0 ? chart({title: "C_context against L", x: "response length L, tokens", kind: "scatter", low: 0, series: [...pairs, diagonal]}) : null,
  ];
}

function rewards() {
  const masses = [green, teal, purple, gold, rose, grey], verdicts = [green, rose, gold, purple, teal, grey, styleOf(1), styleOf(0)];
  return [
    compared("reward_mean", "Reward", "sum of the terms, mean", unlessZero),
    data.rewards.map(({name, about}) => compared(`reward_${name}_mean`, about, "mean", {unlessZero: true, like: name === "accuracy" ? "accuracy" : ""})),
    data.numbers.map(name => [compared(`${name}_mean`, name, "mean"), compared(`eval_${name}_mean`, `Held-out ${name}`, "mean")]),
    composed("Groups", "share", [["groups_all_correct_share", "all correct", green], ["groups_all_incorrect_share", "all incorrect", rose],
                                 ["groups_mixed_share", "mixed", grey]], "stacked"),
    composed("Verdicts", "share of responses", data.verdicts.map(({name, metric}, i) => [metric, name, verdicts[i]]), "stacked"),
    composed("Advantage mass", "by reward term",
             data.rewards.map(({name, about}, i) => [`advantage_mass_${name}`, about, masses[i % masses.length]]), "stacked"),
  ];
}

function updates() {
  return [
    compared("clip_fraction", "Clip fraction", "share of tokens", fromZero),
    compared("first_minibatch_ratio_max_deviation", "Ratio deviation, 1st mini-batch", "largest |ratio − 1|", fromZero),
    compared("approx_kl", "KL to the sampling policy", "k1 estimate, nats a token"),
    compared("grad_norm", "Gradient norm", "before clipping, mean over updates", fromZero),
    compared("learning_rate", "Learning rate", "", fromZero),
    compared("advantage_magnitude_mean", "Advantage", "mean magnitude", fromZero),
  ];
}

// Returns the chart of the time in which the roles of a run do not wait.
function utilization(run) {
  const roles = [["idle_share_actor", "actors", teal], ["idle_share_learner", "learners", purple], ["idle_share_reward_worker", "reward workers", gold]];
  return chart({
    title: titled("Utilization", run), note: "share of each role's time that it works", run, low: 0, high: 1,
    series: roles.map(([metric, name, style]) => ({name, style, points: curve(run, metric).map(([step, idle]) => [step, 1 - idle])})),
  });
}

function speed() {
  return [
    composed("Seconds a step", "by phase", [["generate_seconds", "generate", teal], ["update_seconds", "update", purple],
             ["publish_seconds", "publish weights", gold], ["evaluate_seconds", "evaluate", grey], ["log_seconds", "log", rose]], "stacked"),
    subjects.map((_, run) => utilization(run)),
    compared("tokens_per_second", "Tokens a second", "sampled, whole step", fromZero),
  ];
}

// Returns a cell "0.54 → 0.73" with the end's interval below.
function glanceCell(ends) {
  if (!ends) return make("td", {class: "number"}, "–");
  const [start, end, low, high] = ends;
  return make("td", {class: "number"}, make("span", {class: "from"}, `${start} →`), " ", make("b", {}, end),
              low === high ? null : make("small", {}, `${low} to ${high}`));
}

function glance() {
  const known = [["accuracy", "accuracy"], ["eval_accuracy", "held-out"], [data.source_mean, "held-out, mean over sources"],
    ["response_length_mean", "length"], ["c_context_mean", "C_context"], ["r_context_mean", "R_context"], ["entropy_mean", "entropy"],
    ["reward_mean", "reward"], ["truncation_rate", "truncated"], ["loss", "loss"], ["validation_loss", "validation loss"],
    ["tokens_per_second", "tokens/s"]].filter(([metric]) => subjects.some(({ends}) => ends[metric]));
  // A policy's loss does not measure its quality.
  const columns = known.filter(([metric]) => metric !== "loss" || !known.some(([other]) => other === "accuracy"));
  const rows = subjects.map(({name, ends}, run) => make("tr", {"data-run": run}, make("td", {}, make("b", {}, mark(run), " ", name)),
                                                        columns.map(([metric]) => glanceCell(ends[metric]))));
  const states = subjects.flatMap(({runs}, run) => runs.map(({directory, state, details, changes, notes}) =>
    make("li", {"data-run": run, "data-changes": changes.join(" ")}, mark(run), ` ${directory}: ${[state, ...details].join(" · ")}`, notes.flatMap(note => [make("br"), note]))));
  return [make("table", {}, make("tr", {}, make("th", {}, "run"), columns.map(([, words]) => make("th", {class: "number"}, words))), rows),
          make("ul", {class: "notes"}, states)];
}

// Returns "1 h 5 min", "12 min 30 s" or "40 s".
function duration(seconds) {
  if (seconds === null) return "–";
  const whole = Math.round(seconds), hours = Math.floor(whole / 3600), minutes = Math.floor(whole % 3600 / 60);
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

// Returns how a start ended, by the exit status of its job.
function ending({status, command}, isLive) {
  const words = {0: "complete", 1: "failed", 69: "another job held the directory", 75: "stopped and resumable", 78: "refused"};
  if (status !== null) return `${status}: ${words[status] ?? "failed"}`;
  if (isLive) return "in progress";
  return command === null ? "–" : "not recorded: it was killed";
}

// Shows where and when each run ran, by which build, and how it ended: a line for each start.
function starts() {
  const isKnown = subjects.every(({runs}) => runs.every(run => run.starts.every(start => start.command !== null)));
  const small = text => text === null ? null : make("small", {}, text), cell = value => make("td", {}, value === null ? "–" : String(value));
  const rows = subjects.flatMap(({name, runs}, run) => runs.flatMap(({directory, is_live, starts}) => starts.map((start, i) =>
    make("tr", {"data-run": run},
         i > 0 ? make("td", {}, make("small", {}, `start ${i + 1}`)) : make("td", {}, make("b", {}, mark(run), " ", name), small(directory)),
         make("td", {}, start.host ?? "–", small(start.slurm_job === null ? null : `Slurm job ${start.slurm_job}`)),
         make("td", {}, start.build_id ?? "–", small(start.command)), cell(start.ranks), cell(start.begun), make("td", {}, duration(start.seconds)),
         make("td", {}, ending(start, is_live && i === starts.length - 1))))));
  const head = ["run", "host", "version and commit", "ranks", "begun", "duration", "exit status"];
  return [make("table", {class: "starts"}, make("tr", {}, head.map(words => make("th", {}, words))), rows),
          isKnown ? null : make("p", {class: "notes"}, "– is not recorded: an older build made this run.")];
}

// Returns Avg@k as text and as a bar with its interval.
function averageCell(row, run) {
  if (!row) return make("td", {"data-run": run}, "–");
  const {value, low, high} = row.average, percent = share => (100 * share).toFixed(1);
  const samples = Number((row.samples / row.problems).toPrecision(4));
  return make("td", {"data-run": run, class: "average"}, make("b", {}, `${percent(value)} %`), " ",
    make("small", {}, `${percent(low)} to ${percent(high)}, Avg@${samples} of ${row.problems} problems`),
    make("span", {class: `interval ${styleOf(run)}`, style: `--low:${percent(low)}%;--at:${percent(value)}%;--high:${percent(high)}%`}));
}

// Returns "95 %", or "90 % or 95 %" if the evaluations have different confidence levels.
function confidenceWords() {
  const levels = subjects.filter(({evaluation}) => evaluation.length > 0).map(subject => Number((100 * subject.evaluation_confidence).toPrecision(4)));
  return `${[...new Set(levels)].join(" % or ")} %`;
}

function evaluationWords() {
  const seeds = subjects.some(({evaluation, runs}) => evaluation.length > 0 && runs.length > 1);
  return `Share of correct responses by data source, with ${confidenceWords()} intervals over problems${seeds ? "; of several seeds, the mean with a t interval over the seeds" : ""}.`;
}

// Returns one chart with a line for each source if there is one subject, else a chart for each source.
function evaluationCharts(sources, find, [values, title, x]) {
  const points = row => Object.entries(row?.[values] ?? {}).map(([at, {value, low, high}]) => [Number(at), value, low, high]);
  const drawn = (title, series) => chart({title, note: `${confidenceWords()} interval`, x, series});
  if (!several) return drawn(title, sources.map((source, i) => ({name: source, style: styleOf(i), points: points(find(0, source))})));
  return sources.map(source => drawn(`${title} · ${source}`,
    subjects.map(({name}, run) => ({name, style: styleOf(run), run, points: points(find(run, source))}))));
}

function evaluation() {
  const sources = [...new Set(subjects.flatMap(({evaluation}) => evaluation.map(row => row.data_source)))];
  if (sources.length === 0) return [];
  const find = (run, source) => subjects[run].evaluation.find(row => row.data_source === source);
  const head = make("tr", {}, make("th", {}, "data source"), subjects.map(({name}, run) => make("th", {"data-run": run}, mark(run), " ", name)));
  const rows = sources.map(source => make("tr", {}, make("td", {}, source), subjects.map((_, run) => averageCell(find(run, source), run))));
  const views = [["budgets", "Accuracy within a budget", "budget, tokens"], ["pass", "pass@k", "k"], ["majority", "maj@k", "k"]];
  return [make("div", {class: "panel"}, make("table", {}, head, rows)),
          make("div", {class: "grid3"}, views.map(view => evaluationCharts(sources, find, view)).flat())];
}

function settings() {
  const values = subjects.map(subject => new Map(subject.settings)), code = text => make("td", {}, make("code", {}, text));
  const keys = [...new Set(values.flatMap(map => [...map.keys()]))];
  if (keys.length === 0) return [];
  const differs = key => new Set(values.map(map => map.get(key) ?? "")).size > 1;
  const table = (shown, attributes) => make("table", {}, make("tr", {}, make("th", {}, "key"), subjects.map(({name}) => make("th", {}, name))),
    shown.map(key => make("tr", attributes, code(key), values.map(map => code(map.get(key) ?? "")))));
  const differing = keys.filter(differs), same = keys.filter(key => !differs(key));
  return [differing.length > 0 ? table(differing, {class: "differs"}) : null,
          make("details", {}, make("summary", {}, several ? "Settings that agree" : "All settings"), table(same, {}))];
}

const prompt = text => make("pre", {class: "prompt"}, text);

function answer(response, ...heading) {
  const chips = values => values.map(([name, value]) => make("span", {class: "chip"}, `${name} `, make("b", {}, value)));
  return [
    make("header", {}, heading, make("b", {}, `step ${response.step}`), ` problem ${response.problem}, sample ${response.sample}`,
         make("span", {class: `verdict ${response.correct ? "good" : "bad"}`}, response.verdict)),
    make("pre", {}, response.text),
    make("p", {}, chips(response.answer), response.cut ? make("span", {class: "chip bad"}, "cut at the limit") : null),
    make("p", {}, chips(response.rewards)),
  ];
}

// Returns the buttons and the slider that choose the step of the responses, and the places for these.
function responses() {
  const steps = [...new Set(subjects.flatMap(({responses}) => responses.map(({step}) => step)))].sort((a, b) => a - b);
  if (steps.length === 0) return [];
  const stepper = make("div", {class: "stepper"},
    make("button", {type: "button", class: "previous"}, "‹ previous step"),
    make("input", {type: "range", min: 0, max: steps.length - 1, value: steps.length - 1, "aria-label": "step of the responses"}),
    make("button", {type: "button", class: "next"}, "next step ›"), make("output", {}));
  stepper.steps = steps;
  return [stepper, subjects.map(({name, responses}, run) => responses.length === 0 ? null :
    make("div", {"data-run": run}, make("h3", {}, mark(run), name), make("div", {class: "cards", "data-responses": run})))];
}

// Returns the responses of a run's step.
const responsesOf = (run, step) => subjects[run].responses.filter(one => one.step === step).map(one => make("article", {}, prompt(one.prompt), answer(one)));

// Shows the answers of all subjects to the same prompts, by data source.
function sideBySide(sources) {
  return sources.flatMap(({source, prompts}) => [
    source === "" ? null : make("h3", {}, source),
    ...prompts.map(answers => make("div", {class: "compared"}, prompt(answers[0].prompt), make("div", {class: "cards"},
      answers.map((one, run) => make("article", {"data-run": run}, answer(one, mark(run), " ", subjects[run].name)))))),
  ]);
}

function responsesWords() {
  const isThinned = subjects.some(({responses, last_step}) => new Set(responses.map(({step}) => step)).size < last_step);
  return `A few of ${isThinned ? "evenly spaced training steps" : "each training step"}; of several seeds, the first. The buttons and the slider choose the step.`;
}

// Sections are [id, title, words, content, class of the content].
function reportSections() {
  const hasSteps = subjects.some(subject => subject.last_step > 0);
  return [
    ["glance", "At a glance", "Start → end: mean over the first and the last tenth of the steps (held-out: first and last evaluation), with the 95 % interval of the end.",
     glance(), "panel"],
    ["runs", "Runs", "Where and when each job of a run ran, by which build, and how it ended.", starts(), "panel"],
    ["evaluation", "Evaluation", evaluationWords(), evaluation(), "evaluation"],
    ["tuning", "Fine-tuning", "On rows with responses.", isTuning ? tuning() : []],
    ["learning", "Learning", "Does it get better, and how long does it think?", hasSteps ? learning() : []],
    ["exploration", "Exploration in context", "How many distinct states a response, a step and the run visit.", exploration()],
    ["trap", "The shallow exploration trap", "Where responses end and how rare long ones are, in the first (dashed) and the last tenth of the steps. If ending has at least " +
     "probability ε everywhere, responses of L tokens are rarer than (1 − ε)ᴸ⁻¹: a straight line in the tail.", trap()],
    ["rewards", "Rewards and groups", "Reward terms apart, what groups look like, and why the verifier decided.", rewards()],
    ["updates", "Updates", "Is the policy update healthy?", updates()],
    ["speed", "Speed", "Where the time goes.", speed()],
    ["settings", "Settings", several ? "Keys whose values differ are marked." : "As resolved when the run began.", settings(), "panel"],
    ["responses", "Responses", responsesWords(), responses(), "responses"],
    ["prompts", "The same training prompts, side by side", "As each run last answered them; of several seeds, the first.", several ? sideBySide(data.train) : [], "responses"],
    ["held-out", "Held-out prompts by data source", "Their first responses of the last evaluation; of several seeds, of the first.", sideBySide(data.evaluate), "responses"],
  ];
}

// Compares the quantities of `lie_replay score`, as logged and as scored now.
function scoreSections() {
  const series = (side, i, name) => ({name: side, style: styleOf(i), run: i,
                                      points: data.rows.filter(row => row[side][name] !== undefined).map(row => [row.step, row[side][name]])});
  const charts = prefix => data.names.filter(name => name.startsWith(prefix)).map(name =>
    chart({title: name, series: ["logged", "now"].map((side, i) => series(side, i, name))}));
  const turned = data.rows.filter(row => row.groups > 0).map(row => [row.step, row.turned_groups_share]);
  return [
    ["accuracy", "Accuracy", "", [charts("accuracy"), charts("eval_accuracy"), charts("eval_correct_at_")]],
    ["rewards", "Rewards", "Means over training responses, and the shares for which a term is not 0.", charts("reward_")],
    ["groups", "Groups", "Shares of the step's groups by verdict.",
     [charts("groups_"), chart({title: "turned_groups_share", note: "groups in which two responses change their order by advantage",
                                series: [{name: "now", style: styleOf(1), run: 1, points: turned}]})]],
    ["advantages", "Advantages", "Each term's share in the sum of absolute advantages.", charts("advantage_mass_")],
    ["coverage", "Coverage", "Means over responses.",
     ["c_context_", "r_context_", "largest_repeat_", "eval_c_context_", "eval_r_context_"].map(charts)],
  ];
}

// Returns "lie", "gspo and lie" or "a, b, c and 7 more".
function listed(names) {
  if (names.length === 1) return names[0];
  const shown = names.length > 4 ? 3 : names.length - 1;
  return names.slice(0, shown).join(", ") + " and " + (names.length > 4 ? `${names.length - shown} more` : names[shown]);
}

function lead() {
  const intervals = subjects.some(({runs}) => runs.length > 1)
    ? "Lines of several seeds are their mean, bands Student's t 95 % intervals over the seeds; accuracies of a single run have 95 % intervals over its prompts."
    : "Bands of accuracies are 95 % intervals over the prompts of a step.";
  const isLive = subjects.some(({runs}) => runs.some(run => run.is_live));
  const refreshed = data.refresh !== null ? ` lie_analyze --watch writes this file again every ${data.refresh} s while a run is in progress, and this page reads it as often.` :
    isLive ? " A run is in progress: lie_analyze --watch 30 keeps this page up to date." : "";
  return `Made ${data.made} by lie_analyze ${data.build_id}.${refreshed} ${intervals}` +
         (data.grid === null ? "" : " Curves show the extremes of each stretch of steps.");
}

function navigation(names, sections) {
  const checkbox = (name, isChecked) => make("input", {type: "checkbox", name, ...(isChecked ? {checked: ""} : {})});
  const controls = make("div", {class: "controls"},
    make("label", {}, "smoothing ", make("input", {type: "range", name: "smoothing", min: 0, max: 0.99, step: 0.01, value: 0})),
    axes.length < 2 ? null : make("label", {}, "x axis ", make("select", {name: "x"}, axes.map(name => make("option", {value: name}, axisNames[name] + (name === "step" ? "s" : ""))))),
    make("label", {title: "Areas and charts with negative values stay linear; zeros are gaps."}, checkbox("log", false), "logarithmic y"),
    data.refresh ? make("label", {}, checkbox("refresh", true), `refresh every ${data.refresh} s`) : null,
    make("span", {class: "help"}, "Point at a chart for its values, drag to zoom, double-click to return; a click on a name hides it. " +
                                  "By keyboard: arrows move over a chart, + and − zoom, Escape returns."));
  return make("nav", {}, names.map((name, run) => make("button", {type: "button", "data-run": run}, mark(run), name)),
              make("div", {class: "sections"}, sections.map(([id]) => make("a", {href: `#${id}`}, id))), controls);
}

// Puts folded charts after the others, so that they leave no holes between them.
const withFoldedLast = parts => [...parts.filter(part => part.className !== "folded"),
                                 ...parts.filter(part => part.className === "folded")];

function compose(title, words, names, sections) {
  const shown = sections.map(([id, heading, about, content, classes = "grid3"]) => [id, heading, about, withFoldedLast(content.flat(Infinity).filter(part => part !== null)), classes])
    .filter(([, , , content]) => content.length > 0);
  document.title = visible(title);
  document.querySelector("main").append(make("h1", {}, title), make("p", {class: "lead"}, words), navigation(names, shown),
    ...shown.flatMap(([id, heading, about, content, classes]) => [make("h2", {id}, heading), make("p", {}, about), make("div", {class: classes}, content)]));
}

if (data.subjects) compose(`${listed(subjects.map(({name}) => name))}: LIE Cluster report`, lead(), subjects.map(({name}) => name), reportSections());
else compose(data.title, data.words, ["logged", "now"], scoreSections());
