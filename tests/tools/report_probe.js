// Uses a report as a reader does, by events, and compares what it shows with the runs' metrics (report_test.sh).
// Its page defines `runs`, a list of metrics rows for each run of the report, and shows the report in a wide and a narrow frame.
// Writes a line for each claim into the page: "ok: ..." or "FAILED: ...: what is different".
"use strict";
addEventListener("load", () => {
  const [wide, narrow] = [...document.querySelectorAll("iframe")].map(frame => frame.contentWindow);
  const page = wide.document;
  const results = document.querySelector("#results");

  function claim(words, check) {
    let line = `ok: ${words}`;
    try { check(); } catch (error) { line = `FAILED: ${words}: ${error.message}`; }
    results.textContent += line + "\n";
  }
  function expect(is, otherwise) { if (!is) throw new Error(otherwise); }
  function expectNear(shown, value, what) {
    expect(Math.abs(shown - value) <= 1e-4 * Math.max(1e-3, Math.abs(value)), `${what}: shown ${shown}, logged ${value}`);
  }

  const figures = [...page.querySelectorAll("figure")];
  const figure = title => figures.find(f => f.querySelector("figcaption b").textContent === title);
  const accuracy = figure("Accuracy, training prompts"), lengths = figure("Response length");
  const logged = (run, step, metric) => runs[run].find(row => row.step === step)?.[metric];
  const xTicks = of => [...of.querySelectorAll("text.tick[text-anchor=middle]")].map(t => [Number(t.textContent), Number(t.getAttribute("x"))]);

  // Returns where a step is on the screen, by the labels of the axis.
  function placeOf(of, step) {
    const ticks = xTicks(of), [first, last] = [ticks[0], ticks[ticks.length - 2]], box = of.querySelector("svg").getBoundingClientRect();
    const x = first[1] + (step - first[0]) / (last[0] - first[0]) * (last[1] - first[1]);
    return {clientX: box.left + x * box.width / 440, clientY: box.top + box.height / 2, bubbles: true};
  }
  const send = (of, event, step) => of.querySelector("svg").dispatchEvent(new wide.PointerEvent(event, placeOf(of, step)));
  function shownAt(of, step) {
    send(of, "pointermove", step);
    const tip = of.querySelector(".tip");
    return {head: tip.querySelector("small").textContent,
            rows: [...tip.querySelectorAll("div")].map(row => ({name: row.querySelector("span").textContent, value: Number(row.querySelector("b").textContent),
                                                                more: row.querySelector("small")?.textContent ?? ""}))};
  }
  const pictures = () => figures.map(f => f.querySelector(".plot").innerHTML.match(/-?\d+\.?\d*/g).map(Number));
  const classesOf = () => figures.map(f => [...f.querySelectorAll(".plot *")].map(e => e.getAttribute("class")).join(" "));
  const atRest = pictures(), classesAtRest = classesOf(), namesInOrder = [...page.querySelectorAll("nav button")].map(b => b.textContent);
  const click = selector => page.querySelector(selector).click();

  function expectAtRest() {
    pictures().forEach((numbers, i) => {
      const title = figures[i].querySelector("b").textContent;
      expect(numbers.length === atRest[i].length && numbers.every((n, k) => Math.abs(n - atRest[i][k]) < 0.15), `${title} is another picture`);
    });
    classesOf().forEach((classes, i) => expect(classes === classesAtRest[i], `${figures[i].querySelector("b").textContent}: ${classes}`));
  }

  claim("the pointer shows every run's logged values of the nearest step", () => {
    for (const [of, metric] of [[accuracy, "accuracy"], [lengths, "response_length_mean"]]) {
      for (const step of [1, 4, 7, 20, 33, 39]) {
        const shown = shownAt(of, step + 0.4), there = runs.flatMap((_, run) => logged(run, step, metric) === undefined ? [] : [run]);
        expect(shown.head === `step ${step}`, `${shown.head} at ${step}.4`);
        expect(shown.rows.length === there.length, `${shown.rows.length} values for ${there.length} runs`);
        there.forEach((run, i) => {
          expect(shown.rows[i].name === namesInOrder[run], `${shown.rows[i].name} for ${namesInOrder[run]}`);
          expectNear(shown.rows[i].value, logged(run, step, metric), `${metric} of run ${run} at step ${step}`);
        });
      }
    }
  });
  claim("a click on a run hides it everywhere, and another click shows it again", () => {
    const lines = accuracy.querySelectorAll("polyline").length, parts = page.querySelectorAll("figure[data-run='0']");
    click("nav button[data-run='0']");
    expect(accuracy.querySelectorAll("polyline").length === lines - 1, "its line is still there");
    expect(!shownAt(accuracy, 7).rows.some(row => row.name === namesInOrder[0]), "its value is still shown");
    expect(parts.length > 0 && [...parts].every(f => f.getBoundingClientRect().height === 0), "its own charts are still there");
    click("nav button[data-run='0']");
    expectAtRest();
  });
  claim("a click in a legend hides a part, and the rest is stacked without it", () => {
    const groups = figures.find(f => f.querySelector("b").textContent.startsWith("Groups"));
    groups.querySelector("button").click();
    expect(groups.querySelectorAll("polygon").length === 2, "expected two areas");
    groups.querySelector("button").click();
    expectAtRest();
  });
  claim("smoothing draws the moving average and keeps the logged values", () => {
    const slider = page.querySelector(".controls input");
    const smooth = weight => { slider.value = weight; slider.dispatchEvent(new wide.Event("input")); };
    smooth(0.8);
    let sum = 0, weight = 0;
    for (let step = 1; step <= 20; ++step) {
      sum = 0.8 * sum + 0.2 * logged(0, step, "accuracy");
      weight = 0.8 * weight + 0.2;
    }
    const row = shownAt(accuracy, 20).rows[0];
    expectNear(row.value, logged(0, 20, "accuracy"), "the value");
    expectNear(Number(row.more.replace("smoothed ", "")), sum / weight, "the average");
    expect(accuracy.querySelector("polyline.raw"), "the values' line is gone");
    smooth(0);
    expectAtRest();
  });
  claim("dragging zooms all charts over steps, and a double click zooms out", () => {
    send(accuracy, "pointerdown", 10), send(accuracy, "pointermove", 15), send(accuracy, "pointerup", 20);
    for (const of of [accuracy, lengths]) {
      const ticks = xTicks(of).map(([step]) => step);
      expect(ticks.length > 2 && ticks.every(step => step >= 10 && step <= 20), `steps ${ticks}`);
    }
    expectNear(shownAt(accuracy, 14).rows[0].value, logged(0, 14, "accuracy"), "step 14 after zooming");
    send(accuracy, "dblclick", 15);
    expectAtRest();
  });
  const change = (selector, set) => { const at = page.querySelector(selector); set(at); at.dispatchEvent(new wide.Event("change")); };
  const sumUpTo = (run, step, metric) => runs[run].filter(row => row.step <= step).reduce((sum, row) => sum + (row[metric] ?? 0), 0);
  for (const [axis, label, metric, unit] of [["tokens", "generated tokens", "response_tokens", 1], ["hours", "hours", "step_seconds", 3600]]) {
    claim(`the x axis in ${axis} places each value at the sum up to its step`, () => {
      change(".controls select", at => { at.value = axis; });
      expect(accuracy.querySelector(".label").textContent === label, accuracy.querySelector(".label").textContent);
      const [low, high] = [1, 40].map(step => sumUpTo(0, step, metric) / unit), end = Math.max(...runs.map((_, run) => sumUpTo(run, 40, metric) / unit));
      const points = accuracy.querySelector("polyline").getAttribute("points").split(" ").map(pair => Number(pair.split(",")[0]));
      const ticks = [...accuracy.querySelectorAll("text.tick[text-anchor=middle]")];
      expect(points.length === 40, `${points.length} points`);
      for (const step of [10, 25, 40]) {
        const share = (sumUpTo(0, step, metric) / unit - low) / (high - low), shown = (points[step - 1] - points[0]) / (points[39] - points[0]);
        expect(Math.abs(share - shown) < 2e-3, `step ${step} at ${shown} of the line, logged ${share}`);
      }
      expect(ticks.length > 2 && end > high / 2, `${ticks.length} ticks`);
      const box = accuracy.querySelector("svg").getBoundingClientRect();
      accuracy.querySelector("svg").dispatchEvent(new wide.PointerEvent("pointermove", {clientX: box.left + points[19] / 440 * box.width, clientY: box.top + 50, bubbles: true}));
      const tip = accuracy.querySelector(".tip"), first = tip.querySelector("div");
      expect(tip.querySelector("small").textContent.startsWith(label), tip.textContent);
      const step = Number(first.lastChild.textContent.replace("step ", ""));
      expect(Math.abs(step - 20) <= 1, `step ${step}`);
      expectNear(Number(first.querySelector("b").textContent), logged(0, step, "accuracy"), `accuracy at step ${step}`);
      change(".controls select", at => { at.value = "step"; });
      expectAtRest();
    });
  }
  claim("a logarithmic axis places values by their logarithms and leaves other charts as they are", () => {
    change(".controls [name=log]", at => { at.checked = true; });
    const ticks = [...lengths.querySelectorAll("text.tick[text-anchor=end]")].map(t => [Math.log(Number(t.textContent)), Number(t.getAttribute("y"))]);
    expect(ticks.length > 2 && ticks.every(([log]) => Number.isFinite(log)), `ticks ${ticks}`);
    const slope = (ticks[0][1] - ticks[1][1]) / (ticks[0][0] - ticks[1][0]);
    for (const [log, y] of ticks) expect(Math.abs(ticks[0][1] + slope * (log - ticks[0][0]) - y) < 0.4, `a tick at ${y}`);
    const y = Number(lengths.querySelector("polyline").getAttribute("points").split(" ")[19].split(",")[1]) + 3.5;
    expect(Math.abs(ticks[0][1] + slope * (Math.log(logged(0, 20, "response_length_mean")) - ticks[0][0]) - y) < 0.5, `step 20 is at ${y}`);
    const negative = figure("R_len"), zero = [...negative.querySelectorAll("text.tick[text-anchor=end]")].map(t => Number(t.textContent));
    expect(zero.some(value => value < 0), `a negative value on the axis ${zero}`);
    change(".controls [name=log]", at => { at.checked = false; });
    expectAtRest();
  });
  claim("utilization is the time that is not idle", () => {
    const shown = shownAt(figure("Utilization · lie"), 20).rows;
    for (const [name, metric] of [["actors", "idle_share_actor"], ["learners", "idle_share_learner"]]) {
      expectNear(shown.find(row => row.name === name).value, 1 - logged(0, 20, metric), name);
    }
  });
  claim("a chart whose values never change is a line of text that opens it", () => {
    const folded = figure("Learning rate").closest("details");
    expect(folded.textContent.startsWith("Learning rate: 2.500e-4 at every step"), folded.querySelector("summary").textContent);
    expect(!folded.open && figure("Gradient norm").closest("details") === null, "the wrong chart is folded");
    expect([...folded.parentElement.children].indexOf(folded) > [...folded.parentElement.children].indexOf(figure("Gradient norm")), "it leaves a hole");
  });
  claim("a link shows one chart and opens it if it is folded", () => {
    const links = figures.map(f => f.querySelector(".save a").getAttribute("href").slice(1));
    expect(new Set(links).size === figures.length && figures.every((f, i) => f.id === links[i]), links.join());
    for (const of of [figure("Learning rate"), accuracy]) {
      wide.location.hash = of.id;
      wide.dispatchEvent(new wide.HashChangeEvent("hashchange"));
      const box = of.getBoundingClientRect();
      expect(box.height > 100 && box.top >= 0 && box.bottom <= wide.innerHeight, `${of.id} is at ${box.top} to ${box.bottom}`);
    }
    expect(figure("Learning rate").closest("details").open, "it is still folded");
    figure("Learning rate").closest("details").open = false;
  });
  claim("the buttons below a chart do not cover it", () => figures.filter(f => f.getBoundingClientRect().height > 0).forEach(f => {
    const [chart, buttons] = ["svg", ".save"].map(part => f.querySelector(part).getBoundingClientRect());
    expect(buttons.top >= chart.bottom - 1, `${f.id}: ${buttons.top} < ${chart.bottom}`);
  }));
  claim("the arrow keys move over the points of a chart, and Escape returns", () => {
    const svg = accuracy.querySelector("svg"), tip = accuracy.querySelector(".tip");
    const press = key => { svg.dispatchEvent(new wide.KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})); return tip.querySelector("small")?.textContent; };
    expect(svg.tabIndex === 0, "it cannot get the focus");
    send(accuracy, "pointerleave", 1);
    expect(press("ArrowRight") === "step 1" && press("ArrowRight") === "step 2" && press("End") === "step 40" && press("ArrowLeft") === "step 39", tip.textContent);
    press("+");
    const zoomed = xTicks(accuracy).map(([step]) => step);
    expect(zoomed.every(step => step > 15), `steps ${zoomed}`);
    press("Escape");
    expectAtRest();
  });
  claim("the buttons step through the responses of every step", () => {
    const shown = () => [...page.querySelectorAll("[data-responses='0'] article header b")].map(b => b.textContent);
    expect(shown().length > 0 && shown().every(step => step === "step 40"), `at first ${shown()}`);
    click(".stepper .previous");
    expect(page.querySelector(".stepper output").textContent === "step 39 of 40", page.querySelector(".stepper output").textContent);
    expect(shown().length > 0 && shown().every(step => step === "step 39"), `then ${shown()}`);
    const slider = page.querySelector(".stepper input");
    slider.value = 0, slider.dispatchEvent(new wide.Event("input"));
    expect(shown().length > 0 && shown().every(step => step === "step 1"), `at the start ${shown()}`);
    slider.value = slider.max, slider.dispatchEvent(new wide.Event("input"));
    expect(page.querySelector(".stepper .next").disabled, "there is a step after the last");
  });
  claim("host, build, duration and exit status of every run are in one table", () => {
    const rows = [...page.querySelectorAll("table.starts tr")].slice(1);
    expect(rows.length === runs.length, `${rows.length} rows`);
    for (const row of rows) {
      const cells = [...row.querySelectorAll("td")].map(cell => cell.textContent);
      expect(cells.every(cell => cell !== "" && cell !== "–") && cells[6] === "0: complete" && cells[3] === "4", cells.join("; "));
    }
  });
  claim("labels say correct and incorrect", () => {
    const words = [...page.querySelectorAll("p, h2, th, figcaption, summary, .legend, .controls")].map(part => part.textContent).join(" ");
    expect(words.includes("all incorrect") && !/\b(right|wrong)\b/.test(words), words.match(/.{20}\b(right|wrong)\b.{20}/)?.[0] ?? "no label");
  });
  claim("ten runs have ten kinds of line", () => {
    const kinds = [...accuracy.querySelectorAll("polyline")].map(line => wide.getComputedStyle(line)).map(style => `${style.stroke} ${style.strokeDasharray}`);
    expect(kinds.length === 11 && new Set(kinds).size === 10, kinds.join("; "));  // one line has a gap
  });
  claim("steps without a value or a signal are gaps", () => {
    const pieces = (of, shape) => [...of.querySelectorAll(".plot g")].map(group => group.querySelectorAll(shape).length);
    expect(pieces(accuracy, "polyline").join() === "1,1,2,1,1,1,1,1,1,1", `lines: ${pieces(accuracy, "polyline")}`);
    expect(pieces(figure("Groups · run-3"), "polygon").every(n => n === 2), "missing steps are filled");
    expect(pieces(figure("Advantage mass · run-3"), "polygon").every(n => n === 3), "a step of zeros is drawn");
    expect(pieces(figure("Advantage mass · lie"), "polygon").every(n => n === 1), "a complete run has gaps");
  });
  claim("legends name bands, and titles are explained at the pointer", () => {
    expect(accuracy.querySelector(".legend").textContent.includes("band: 95 % interval"), "the interval is not named");
    expect(!lengths.querySelector(".legend").textContent.includes("band"), "a chart without a band names one");
    expect(accuracy.querySelector("figcaption b").title.includes("verifier"), "accuracy is not explained");
  });
  claim("a chart is saved as an SVG document with title, lines and legend", () => {
    let saved = "", name = "";
    const kept = wide.Blob;
    wide.Blob = class extends kept { constructor(parts, options) { super(parts, options); saved = parts[0]; } };
    wide.HTMLAnchorElement.prototype.click = function () { name = this.download; };
    accuracy.querySelector(".save button").click();
    wide.Blob = kept;
    const root = new DOMParser().parseFromString(saved, "image/svg+xml").documentElement;
    const texts = [...root.querySelectorAll("text")].map(text => text.textContent);
    expect(name === "Accuracy-training-prompts.svg", name);
    expect(root.localName === "svg" && texts.includes("Accuracy, training prompts"), saved.slice(0, 200));
    expect(namesInOrder.every(run => texts.includes(run)), texts.join("; "));
    expect([...root.querySelectorAll("polyline")].every(line => /stroke:\s*rgb/.test(line.getAttribute("style"))), "a line has no color");
    expect(root.querySelectorAll("img, script").length === 0, "a name became an element");
  });
  claim("the first table shows start and end of every run, and its state", () => {
    const rows = [...page.querySelectorAll("#glance ~ .panel table")][0].querySelectorAll("tr");
    expect(rows.length === runs.length + 1, `${rows.length} rows`);
    const cells = [...rows[1].querySelectorAll("td")].map(cell => cell.textContent);
    expect(cells[0].trim() === namesInOrder[0] && /^\d[.\d]* → \d[.\d]*/.test(cells[1]), cells.join("; "));
    const states = [...page.querySelectorAll(".notes li")].map(item => item.textContent);
    expect(states.length === runs.length && states[0].includes("finished: 40 steps"), states[0]);
  });
  claim("settings that differ are marked, the others are folded away", () => {
    const marked = [...page.querySelectorAll("tr.differs td:first-child")].map(cell => cell.textContent);
    const others = [...page.querySelectorAll("details td:first-child")].map(cell => cell.textContent);
    expect(marked.includes("run.seed") && !marked.includes("policy_loss.algorithm"), marked.join());
    expect(others.includes("policy_loss.algorithm") && !others.includes("run.seed"), others.join());
  });
  claim("responses show prompt, answer and verdict; control characters and text direction are visible", () => {
    const cards = page.querySelectorAll("#responses ~ .responses article");
    expect(cards.length > 0 && cards[0].querySelectorAll("pre").length === 2, `${cards.length} responses`);
    expect(["gold", "extracted", "C_context", "reward", "advantage"].every(name => cards[0].textContent.includes(name)), cards[0].textContent);
    expect(wide.visible("a\u202e\x07\nb") === "a⟨U+202E⟩⟨U+0007⟩\nb", wide.visible("a\u202e\x07\nb"));
  });
  claim("the navigation leads to each section that has content", () => {
    const sections = [...page.querySelectorAll("h2")].map(heading => heading.id);
    expect([...page.querySelectorAll("nav a")].map(link => link.getAttribute("href").slice(1)).join() === sections.join(), sections.join());
    expect(sections.includes("trap") && !sections.includes("tuning"), sections.join());
  });
  claim("a line marks the step after which settings changed, while its run is shown", () => {
    const marks = () => accuracy.querySelectorAll("line.change");
    expect(page.querySelector(".notes").textContent.includes("settings changed after step 7: policy_loss.clip_low: 0.02, now 0.01"), "the change is not named");
    const [[first, left], ...ticks] = xTicks(accuracy), [last, at] = ticks[ticks.length - 2];
    expect(marks().length === 1, `${marks().length} marks`);
    const place = first + (marks()[0].x1.baseVal.value - left) / (at - left) * (last - first);
    expect(Math.abs(place - 7.5) < 0.05, `at step ${place}`);
    click("nav button[data-run='3']");
    expect(marks().length === 0, "the mark of a hidden run is shown");
    click("nav button[data-run='3']");
    expectAtRest();
  });
  claim("a table that is cut has a shadow at its edge", () => {
    const cut = [...narrow.document.querySelectorAll(".panel")].filter(panel => panel.scrollWidth > panel.clientWidth);
    expect(cut.length > 0, "no table is cut");
    expect(cut.every(panel => narrow.getComputedStyle(panel).backgroundAttachment.includes("scroll")), "one has no shadow");
  });
  claim("every chart is drawn", () => figures.forEach(f => {
    const plot = f.querySelector(".plot");
    expect(plot.querySelector("polyline, polygon, circle") && plot.querySelectorAll("text.tick").length > 3, `${f.querySelector("b").textContent} is empty`);
    expect(!/NaN|Infinity|null/.test(plot.innerHTML), `${f.querySelector("b").textContent} contains a value that is not a number`);
  }));
  claim("every chart has a legend", () => expect(figures.every(f => f.querySelector(".legend button")), "one has none"));
  for (const [name, at] of [["wide", wide], ["narrow", narrow]]) {
    claim(`on a ${name} page no label is cut and nothing scrolls sideways`, () => {
      const {scrollWidth, clientWidth} = at.document.documentElement;
      expect(scrollWidth <= clientWidth, `${scrollWidth} pixels on ${clientWidth}`);
      for (const text of at.document.querySelectorAll("svg text")) {
        const box = text.getBBox();
        expect(box.x >= 0 && box.x + box.width <= 440 && box.y >= 0 && box.y + box.height <= 236, `${text.textContent} at ${box.x} + ${box.width}`);
      }
    });
  }
  claim("no text of a run becomes a part of the page", () => {
    expect(page.body.textContent.includes("1 < 2<script>attacked = 1"), "an extracted answer is not shown as it is");
    expect(wide.attacked === undefined && page.querySelectorAll("img, marquee").length === 0, "a name became an element");
    expect(namesInOrder.some(name => name.includes("<img")), "the name is not shown as it is");
  });
  results.textContent += "all claims checked\n";
});
