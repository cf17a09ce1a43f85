// Draws the charts that page.js describes, and makes them interactive: values at the pointer or by the
// arrow keys, zoom by dragging, runs and lines hidden by a click, charts saved as SVG or PNG.
"use strict";
const drawing = (() => {
  const width = 440, right = 428, top = 10, bottom = 200, glyph = 8.6, mostMarked = 24, mostRegular = 600;
  const zoom = new Map();  // [low, high] or undefined, by x label

  // Explains a term of a caption or a table head. The first term that its text begins with counts.
  const terms = [
    ["C_context", "Distinct n-grams of one response: how many different states it visits."],
    ["R_context", "C_context divided by the number of n-grams of the response. 1: no n-gram repeats."],
    ["C_global", "Distinct n-grams over all responses of a step, or of the run so far."],
    ["Accuracy", "Share of responses whose answer the verifier found equal to the gold answer."],
    ["accuracy", "Share of training responses whose answer the verifier found equal to the gold answer."],
    ["held-out", "Accuracy on the evaluation prompts, which are not trained on."],
    ["Entropy", "Uncertainty of the next token under the policy, in nats, averaged over tokens."],
    ["entropy", "Uncertainty of the next token under the policy, in nats, averaged over tokens."],
    ["Clip fraction", "Share of tokens whose importance ratio is outside of the clip range."],
    ["Ratio deviation", "Largest distance from 1 of the importance ratio in the first mini-batch of a step. It is near 0 if actors and learner compute alike."],
    ["KL", "Estimated Kullback-Leibler divergence of the updated policy from the policy that sampled."],
    ["Gradient norm", "Euclidean norm of the gradient before clipping."],
    ["Advantage mass", "Sum of the magnitudes that each reward term adds to the advantages."],
    ["Advantage", "Reward of a response relative to its group."],
    ["Groups", "A group is all responses to one prompt. A group whose responses all get the same reward has no signal."],
    ["Verdicts", "Why the verifier accepted or rejected each response."],
    ["Truncation rate", "Share of responses that the length limit cut."],
    ["truncated", "Share of responses that the length limit cut."],
    ["End-of-sequence hazard", "Probability that a response ends at a position, if it reaches the position."],
    ["Length tail", "Share of responses of at least L tokens, on a logarithmic axis."],
    ["pass@k", "Probability that at least one of k responses is correct."],
    ["maj@k", "Accuracy of the most frequent answer of k responses."],
    ["Utilization", "Share of its time in which a role works. In the rest it waits for another role."],
    ["exit status", "0: complete. 75: stopped and resumable. Others: an error, which the job reported."],
    ["duration", "From the start of the job to its end; of a job in progress, to its last step."],
  ];

  function tickText(value, step) {
    const size = Math.abs(value);
    if (size < step * 1e-9) return "0";
    const digits = Math.min(9, Math.max(4, Math.ceil(Math.log10(size / step)) + 1));
    const rounded = number => String(Number(number.toPrecision(digits)));
    if (size >= 1e9) return rounded(value / 1e9) + "G";
    if (size >= 1e6) return rounded(value / 1e6) + "M";
    if (size >= 1e4) return rounded(value / 1e3) + "k";
    if (size >= 1e-3) return rounded(value);
    const power = Math.floor(Math.log10(size) + 1e-9);
    return rounded(value / 10 ** power) + "e" + power;
  }

  // Returns the name of a chart's x axis, which the reader chooses for curves over steps.
  const labelOf = data => data.x === "step" ? axisNames[view.x] : data.x;

  // Returns the place of a step of a run on the chosen axis, between the listed steps by interpolation.
  function placeOfStep(run, step) {
    if (view.x === "step") return step;
    const line = subjects[run].progress[view.x], after = line.findIndex(([listed]) => listed >= step);
    if (after < 0) return line[line.length - 1][1];
    const [[low, from], [high, to]] = [line[Math.max(0, after - 1)], line[after]];
    return high === low ? to : from + (step - low) / (high - low) * (to - from);
  }

  const stepOf = point => point.step ?? point[0];
  const ofStep = (step, point) => Object.assign(point, {step});

  // Returns the points of a series on the chosen axis. They keep their steps.
  function placed(data, {run, points}) {
    if (data.x !== "step" || view.x === "step") return points;
    return points.map(p => ofStep(p[0], [placeOfStep(run >= 0 ? run : data.run, p[0]), ...p.slice(1)]));
  }

  // Areas, clouds and charts with negative values stay linear.
  const isLogarithmic = data => data.log || view.log && data.isPositive && data.kind === "lines";

  // Returns [value, label] for 1, 2 or 5 times a power of ten. A logarithmic axis of two powers or more shows only these.
  function ticksOf([low, high], isLog) {
    if (isLog && high - low >= 2) {
      const powers = [];
      for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; ++k) powers.push([10 ** k, tickText(10 ** k, 10 ** k)]);
      return powers;
    }
    if (isLog) return ticksOf([10 ** low, 10 ** high], false).filter(([value]) => value > 0);
    const rough = (high - low) / 4.5, power = 10 ** Math.floor(Math.log10(rough)), lead = rough / power;
    const step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10), ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) ticks.push([k * step, tickText(k * step, step)]);
    return ticks;
  }

  const isFlat = ([low, high]) => high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high));

  function widened([low, high], data) {
    if (isLogarithmic(data)) {
      const [from, to] = [Math.log10(low), Math.log10(high)], room = Math.max(0.02, (to - from) * 0.05);
      return to - from < 1.5 ? [from - room, to + room] : [Math.floor(from + 1e-9), Math.ceil(to - 1e-9)];
    }
    if (isFlat([low, high])) {
      const room = high === 0 ? 1 : Math.abs(high) * 0.1;
      return [low === 0 ? 0 : low - room, high + room];
    }
    const room = (high - low) * 0.05;
    return [data.low !== null && data.low <= low || low === 0 ? low : low - room,
            data.high !== null && data.high >= high ? high : high + room];
  }

  const rangeOf = numbers => numbers.reduce(([low, high], n) => [Math.min(low, n), Math.max(high, n)], [Infinity, -Infinity]);

  // Returns the scales from values to the picture; null if there are no values.
  function axesOf(data, series) {
    const points = series.flatMap(s => s.points);
    if (points.length === 0) return null;
    const isLog = isLogarithmic(data);
    let x = zoom.get(labelOf(data)) ?? rangeOf(points.map(p => p[0]));
    if (isFlat(x)) x = [x[0] - 1, x[1] + 1];
    const limits = isLog ? [] : [data.low, data.high].filter(n => n !== null);
    const y = widened(rangeOf(points.flatMap(p => p.slice(1)).concat(limits).filter(n => !isLog || n > 0)), data);
    const isPercent = data.share && !isLog && y[1] < 0.01;
    const yTicks = isPercent ? ticksOf(y.map(n => 100 * n), false).map(([value, text]) => [value / 100, text + " %"]) : ticksOf(y, isLog);
    const left = Math.max(44, ...yTicks.map(([, text]) => 12 + glyph * text.length));
    const share = value => ((isLog ? Math.log10(Math.max(value, 1e-300)) : value) - y[0]) / (y[1] - y[0]);
    return {
      left, yTicks, xTicks: ticksOf(x, false),
      x: value => left + (value - x[0]) / (x[1] - x[0]) * (right - left),
      y: value => bottom - Math.min(1.02, Math.max(-0.02, share(value))) * (bottom - top),
      valueAt: place => x[0] + (place - left) / (right - left) * (x[1] - x[0]),
    };
  }

  const isShown = series => !series.hidden && !view.hidden.has(series.run);

  // Returns the distance of neighboring points, or 0 if it is unknown: a thinned line has no regular distance.
  function spacing(points, of = p => p[0]) {
    if (points.length < 3 || points.length > mostRegular) return 0;
    const distances = points.slice(1).map((p, i) => of(p) - of(points[i])).sort((a, b) => a - b);
    return distances[distances.length >> 1];
  }

  // Splits the points of a curve over steps where steps have no value.
  function pieces(data, points) {
    const distance = data.x === "step" && data.kind !== "scatter" ? spacing(points, stepOf) : 0;
    const all = [];
    points.forEach((p, i) => {
      if (i === 0 || distance > 0 && stepOf(p) - stepOf(points[i - 1]) > 1.5 * distance) all.push([]);
      all[all.length - 1].push(p);
    });
    return all;
  }

  // Removes the steps at which nothing is stacked: they have no signal, which is not a value of 0.
  function withoutEmptySteps(series) {
    const sums = new Map();
    for (const s of series) for (const [x, y] of s.points) sums.set(x, (sums.get(x) ?? 0) + Math.abs(y));
    return series.map(s => ({...s, points: s.points.filter(([x]) => sums.get(x) > 0)}));
  }

  function stacked(series) {
    const height = new Map();
    return series.map(s => ({...s, points: s.points.map(p => {
      const [x, y] = p, low = height.get(x) ?? 0;
      height.set(x, low + y);
      return ofStep(stepOf(p), [x, y, low, low + y]);
    })}));
  }

  // Returns the exponential moving average, corrected for the bias of its start.
  function smoothed(points) {
    let sum = 0, weight = 0;
    return points.map(p => {
      sum = view.smoothing * sum + (1 - view.smoothing) * p[1];
      weight = view.smoothing * weight + (1 - view.smoothing);
      return ofStep(stepOf(p), [p[0], sum / weight]);
    });
  }

  function shownSeries({data}) {
    const span = zoom.get(labelOf(data)), isLog = isLogarithmic(data);
    const isInside = ([x, y]) => (!span || (x >= span[0] && x <= span[1])) && (!isLog || y > 0);
    const isSmooth = view.smoothing > 0 && data.kind === "lines" && data.x === "step";
    const series = data.series.filter(isShown).map(s => {
      const points = placed(data, s);
      return {...s, points: points.filter(isInside), smooth: isSmooth ? smoothed(points).filter(isInside) : null};
    });
    return data.kind === "stacked" ? stacked(withoutEmptySteps(series)) : series;
  }

  // Pictures. They contain only numbers and class names; texts of the run are set as text.
  const at = number => number.toFixed(1);
  function frame(axes) {
    const rows = axes.yTicks.map(([value, text]) =>
      `<line class=grid x1=${at(axes.left)} x2=${right} y1=${at(axes.y(value))} y2=${at(axes.y(value))} />` +
      `<text class=tick x=${at(axes.left - 6)} y=${at(axes.y(value) + 3.5)} text-anchor=end>${text}</text>`);
    const columns = axes.xTicks.map(([value, text]) =>
      `<text class=tick x=${at(Math.min(axes.x(value), width - glyph * text.length / 2))} y=${bottom + 16} text-anchor=middle>${text}</text>`);
    return rows.concat(columns).join("") + `<line class=axis x1=${at(axes.left)} x2=${right} y1=${bottom} y2=${bottom} />`;
  }

  function band(axes, points) {
    if (!points.some(p => p.length > 2)) return "";
    const edge = (side, all) => all.map(p => `${at(axes.x(p[0]))},${at(axes.y(p[side] ?? p[1]))}`).join(" ");
    return `<polygon class=band points="${edge(3, points)} ${edge(2, [...points].reverse())}" />`;
  }

  function line(axes, points, classes) {
    return `<polyline class="line${classes}" points="${points.map(p => `${at(axes.x(p[0]))},${at(axes.y(p[1]))}`).join(" ")}" />`;
  }

  function dots(axes, points, kind, radius) {
    return points.map(p => `<circle class=${kind} cx=${at(axes.x(p[0]))} cy=${at(axes.y(p[1]))} r=${radius} />`).join("");
  }

  // Draws a single point of a stacked area as wide as its step.
  function widenedPoint(points, distance) {
    if (points.length > 1 || distance === 0) return points;
    return [-0.3, 0.3].map(share => [points[0][0] + share * distance, ...points[0].slice(1)]);
  }

  function drawn(data, series, axes) {
    const points = series.points, dash = series.dashed ? " dashed" : "", parts = pieces(data, points);
    const draws = (all, classes) => all.map(part => part.length > 1 || all.length === 1 ? line(axes, part, classes) : dots(axes, part, "dot", 2.2)).join("");
    if (data.kind === "stacked") return parts.map(part => band(axes, widenedPoint(part, spacing(points)))).join("");
    if (data.kind === "scatter" && !series.dashed) return dots(axes, points, "scatter", 2);
    if (series.smooth) return draws(parts, " raw") + draws(pieces(data, series.smooth), dash);
    return parts.map(part => band(axes, part)).join("") + draws(parts, dash) + (points.length <= mostMarked ? dots(axes, points, "dot", 2.2) : "");
  }

  // Draws a vertical line where the settings of a shown run changed.
  function changes(data, axes) {
    if (data.x !== "step") return "";
    const runs = [...document.querySelectorAll('[data-changes]:not([data-changes=""])')].filter(run => !view.hidden.has(Number(run.dataset.run)));
    const places = runs.flatMap(({dataset}) => dataset.changes.split(" ").map(step => axes.x(placeOfStep(Number(dataset.run), Number(step) + 0.5))));
    return places.filter(x => x >= axes.left && x <= right).map(x => `<line class=change x1=${at(x)} x2=${at(x)} y1=${top} y2=${bottom} />`).join("");
  }

  function draw(chart) {
    const series = shownSeries(chart);
    chart.axes = axesOf(chart.data, series);
    const area = chart.data.kind === "stacked" ? " area" : "";
    chart.figure.querySelector(".label").textContent = labelOf(chart.data);
    chart.plot.innerHTML = chart.axes === null ? "" : frame(chart.axes) + changes(chart.data, chart.axes) +
      series.map(s => `<g class="${s.style}${area}">${drawn(chart.data, s, chart.axes)}</g>`).join("");
    leave(chart);
  }

  // Formats a value. Shares below 1 % are percentages.
  function short(number, isShare) {
    const size = Math.abs(number);
    if (isShare && size > 0 && size < 0.01) return `${Number((100 * number).toPrecision(4))} %`;
    return size !== 0 && (size < 1e-3 || size >= 1e7) ? number.toExponential(3) : String(Number(number.toPrecision(5)));
  }

  const nearest = (points, x) =>
    points.reduce((best, p) => best === null || Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best, null);

  const element = (name, classes, text) => make(name, {class: classes}, text);

  function row(chart, series, point) {
    const smooth = series.smooth?.find(p => stepOf(p) === stepOf(point)), text = number => short(number, chart.data.share);
    const made = element("div", series.style, "");
    made.append(element("i", series.dashed ? "dashed" : "", ""), element("span", "", series.name), element("b", "", text(point[1])));
    if (smooth) made.append(element("small", "", `smoothed ${text(smooth[1])}`));
    else if (point.length > 2 && chart.data.kind !== "stacked") made.append(element("small", "", `${text(point[2])} to ${text(point[3])}`));
    if (point.step !== undefined && view.x !== "step" && chart.data.x === "step") made.append(element("small", "", `step ${point.step}`));
    return made;
  }

  // Returns the values of all shown series at the nearest of their points.
  function point(chart, place) {
    const series = shownSeries(chart);
    const found = chart.axes && nearest(series.flatMap(s => s.points), chart.axes.valueAt(place));
    if (!found) return leave(chart);
    // Runs share steps, but neither tokens nor hours: there each run shows its nearest point.
    const isShared = chart.data.x !== "step" || view.x === "step";
    const shown = ({points}) => isShared ? points.find(p => p[0] === found[0]) ?? null : nearest(points, found[0]);
    const rows = series.map(s => [s, shown(s)]).filter(([, p]) => p !== null).map(([s, p]) => row(chart, s, p));
    chart.tip.replaceChildren(element("small", "", `${labelOf(chart.data)} ${Number(found[0].toPrecision(isShared ? 9 : 4))}`), ...rows);
    chart.place = found[0];
    const x = chart.axes.x(found[0]);
    chart.tip.style.left = x < width / 2 ? `${x / width * 100 + 4}%` : "auto";
    chart.tip.style.right = x < width / 2 ? "auto" : `${100 - x / width * 100 + 4}%`;
    chart.tip.hidden = false;
    chart.cursor.innerHTML = `<line class=cursor x1=${at(x)} x2=${at(x)} y1=${top} y2=${bottom} />` + brush(chart, place);
  }

  function brush(chart, place) {
    if (chart.from === null) return "";
    return `<rect class=brush x=${at(Math.min(chart.from, place))} width=${at(Math.abs(place - chart.from))} y=${top} height=${bottom - top} />`;
  }

  function leave(chart) {
    chart.tip.hidden = true;
    chart.cursor.innerHTML = "";
    chart.place = null;
  }

  function zoomTo(label, span) {
    zoom.set(label, span);
    charts.filter(chart => labelOf(chart.data) === label).forEach(draw);
  }

  function showOrHide(run) {
    for (const one of document.querySelectorAll(`[data-run="${run}"]`)) {
      if (one.tagName === "BUTTON") one.setAttribute("aria-pressed", !view.hidden.has(run));
      else one.hidden = view.hidden.has(run);
    }
  }

  function toggleRun(run) {
    if (!view.hidden.delete(run)) view.hidden.add(run);
    showOrHide(run);
    charts.forEach(draw);
  }

  function toggleSeries(button) {
    const chart = charts.find(c => c.figure.contains(button)), series = chart.data.series[button.dataset.series];
    series.hidden = !series.hidden;
    button.setAttribute("aria-pressed", !series.hidden);
    draw(chart);
  }

  // Handles the pointer over one chart: shows values, and zooms to a dragged span.
  function follow(chart) {
    const place = event => {
      const box = chart.svg.getBoundingClientRect();
      return Math.min(right, Math.max(chart.axes?.left ?? 0, (event.clientX - box.left) / box.width * width));
    };
    chart.svg.addEventListener("pointermove", event => point(chart, place(event)));
    chart.svg.addEventListener("pointerdown", event => { chart.from = place(event); point(chart, chart.from); });
    chart.svg.addEventListener("pointerup", event => {
      const [from, to] = [chart.from, place(event)].sort((a, b) => a - b), axes = chart.axes;
      chart.from = null;
      if (from !== null && axes && to - from > 8) zoomTo(labelOf(chart.data), [axes.valueAt(from), axes.valueAt(to)]);
    });
    for (const end of ["pointerleave", "pointercancel"]) chart.svg.addEventListener(end, () => { chart.from = null; leave(chart); });
    chart.svg.addEventListener("dblclick", () => zoomTo(labelOf(chart.data), undefined));
  }

  // Moves to the next or the previous point of a chart.
  function move(chart, by) {
    const places = [...new Set(shownSeries(chart).flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
    if (places.length === 0) return;
    const now = places.indexOf(chart.place), next = now < 0 ? (by > 0 ? 0 : places.length - 1) : Math.min(places.length - 1, Math.max(0, now + by));
    point(chart, chart.axes.x(places[next]));
  }

  // Zooms around the point at the cursor, or around the middle.
  function zoomBy(chart, factor) {
    if (chart.axes === null) return;
    const [low, high] = [chart.axes.valueAt(chart.axes.left), chart.axes.valueAt(right)], middle = chart.place ?? (low + high) / 2;
    const half = (high - low) / 2 * factor, label = labelOf(chart.data), place = chart.place;
    zoomTo(label, [middle - half, middle + half]);
    if (place !== null) point(chart, chart.axes.x(place));
  }

  // Handles the keys of a chart that has the focus.
  function listen(chart) {
    const actions = {
      ArrowRight: () => move(chart, 1), ArrowLeft: () => move(chart, -1), Home: () => move(chart, -Infinity), End: () => move(chart, Infinity),
      "+": () => zoomBy(chart, 0.5), "-": () => zoomBy(chart, 2), Escape: () => zoomTo(labelOf(chart.data), undefined),
    };
    chart.svg.addEventListener("keydown", event => {
      if (!(event.key in actions) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      actions[event.key]();
    });
    chart.svg.addEventListener("blur", () => leave(chart));
  }

  // Returns the chart as an SVG document: with its title, and with the styles of the page written into it.
  function documentOf(chart) {
    const styles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family"];
    const copy = chart.svg.cloneNode(true), from = chart.svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((made, i) => {
      const style = getComputedStyle(from[i]);
      made.setAttribute("style", styles.map(name => `${name}:${style.getPropertyValue(name)}`).join(";"));
    });
    const named = (name, attributes, text) => {
      const made = document.createElementNS(copy.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.textContent = text;
      return made;
    };
    const page = getComputedStyle(chart.figure), series = shownSeries(chart), height = 262 + 16 * series.length;
    const keys = series.flatMap((s, i) => {
      const group = from[0].ownerDocument.createElement("i");
      group.className = s.style;
      chart.figure.append(group);
      const fill = getComputedStyle(group).getPropertyValue("--c");
      group.remove();
      return [named("rect", {x: 12, y: 252 + 16 * i, width: 14, height: 4, fill}, ""),
              named("text", {x: 32, y: 258 + 16 * i, fill: page.color, "font-size": 11, "font-family": "sans-serif"}, s.name)];
    });
    copy.setAttribute("viewBox", `0 -24 440 ${height + 24}`);
    copy.setAttribute("width", 880), copy.setAttribute("height", 2 * (height + 24));
    copy.prepend(named("rect", {x: 0, y: -24, width: 440, height: height + 24, fill: page.backgroundColor}, ""),
                 named("text", {x: 12, y: -8, fill: page.color, "font-size": 13, "font-weight": 600, "font-family": "sans-serif"}, chart.title));
    copy.append(...keys);
    return new XMLSerializer().serializeToString(copy);
  }

  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function save(chart, kind) {
    const svg = new Blob([documentOf(chart)], {type: "image/svg+xml"});
    const name = chart.title.replace(/[^\p{L}\p{N}@]+/gu, "-").slice(0, 80) + "." + kind;
    if (kind === "svg") return download(svg, name);
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = image.width, canvas.height = image.height;
      canvas.getContext("2d").drawImage(image, 0, 0);
      URL.revokeObjectURL(image.src);
      canvas.toBlob(blob => download(blob, name));
    };
    image.src = URL.createObjectURL(svg);
  }

  // Adds a button for each series that has points. It hides the series, or its run.
  function addLegend({figure, svg, data}) {
    const legend = element("div", "legend", "");
    data.series.forEach((series, i) => {
      if (series.points.length === 0) return;
      const button = element("button", series.style, "");
      button.type = "button", button.dataset.series = i;
      if (series.run >= 0) button.dataset.run = series.run;
      button.append(element("i", series.dashed ? "dashed" : "", ""), visible(series.name));
      legend.append(button);
    });
    figure.insertBefore(legend, svg);
  }

  // Adds the buttons that save a chart, the marks of bands in its legend, and the explanation of its title.
  function complete(chart) {
    const {figure, data} = chart, saves = element("div", "save", "save");
    const link = make("a", {href: `#${figure.id}`, title: "Link to this chart: copy its address"}, "link");
    for (const kind of ["svg", "png"]) {
      const button = element("button", "", kind.toUpperCase());
      button.type = "button", button.title = `Save this chart as ${kind.toUpperCase()}`;
      button.addEventListener("click", () => save(chart, kind));
      saves.append(button);
    }
    saves.append(link);
    figure.append(saves);
    const banded = data.kind === "stacked" ? [] : data.series.filter(s => s.points.some(p => p.length > 2));
    for (const button of figure.querySelectorAll("button[data-series]")) {
      if (banded.includes(data.series[button.dataset.series])) button.querySelector("i").classList.add("banded");
    }
    if (banded.length > 0 && !banded.some(s => s.name.includes("–95 %"))) {
      figure.querySelector(".legend").append(element("span", "", "band: 95 % interval"));
    }
  }

  function explain(place) {
    const term = terms.find(([name]) => place.textContent.startsWith(name));
    if (term) place.title = term[1], place.classList.add("term");
  }

  function read(figure) {
    const svg = figure.querySelector("svg"), tip = element("div", "tip", "");
    const cursor = document.createElementNS(svg.namespaceURI, "g");
    tip.hidden = true;
    tip.setAttribute("role", "status");
    svg.append(cursor);
    figure.append(tip);
    const values = figure.chart.series.flatMap(s => s.points.map(p => p[1]));
    figure.chart.isPositive = values.every(value => value >= 0) && values.some(value => value > 0);
    const chart = {figure, svg, tip, cursor, plot: svg.querySelector(".plot"), from: null, place: null, title: figure.querySelector("figcaption b").textContent,
                   data: figure.chart};
    follow(chart);
    listen(chart);
    addLegend(chart);
    complete(chart);
    return chart;
  }

  const charts = [...document.querySelectorAll("figure")].map(read);
  for (const button of document.querySelectorAll("button[data-run]")) button.addEventListener("click", () => toggleRun(Number(button.dataset.run)));
  for (const button of document.querySelectorAll("button[data-series]:not([data-run])")) button.addEventListener("click", () => toggleSeries(button));
  document.querySelectorAll("figcaption b, th").forEach(explain);
  const redraw = () => charts.forEach(draw);
  redraw();
  return {redraw, showOrHide};
})();
