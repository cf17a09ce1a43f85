// The reader's choices: x axis, logarithmic y, smoothing, the step of the responses, links to single
// charts, and reading the page again while a run is in progress. What was chosen, and where the page
// was scrolled to, is kept in the history entry, which survives a reload also of a local file.
"use strict";
(() => {
  const control = name => document.querySelector(`.controls [name=${name}]`);
  const slider = control("smoothing"), axis = control("x"), log = control("log"), refresh = control("refresh");
  const stepper = document.querySelector(".stepper"), folded = [...document.querySelectorAll("details")];

  function remember(more = {}) {
    const kept = {...view, hidden: [...view.hidden], open: folded.map(one => one.open), refresh: refresh?.checked ?? false, ...more};
    history.replaceState(kept, "");
  }

  function changed() {
    drawing.redraw();
    remember();
  }

  // Shows the responses of a step, or of the last one before it that has any.
  function showStep(index) {
    const step = stepper.steps[index], [input, output] = [stepper.querySelector("input"), stepper.querySelector("output")];
    input.value = index;
    output.textContent = `step ${step} of ${Math.max(...subjects.map(subject => subject.last_step))}`;
    stepper.querySelector(".previous").disabled = index === 0;
    stepper.querySelector(".next").disabled = index === stepper.steps.length - 1;
    for (const place of document.querySelectorAll("[data-responses]")) {
      const shown = responsesOf(Number(place.dataset.responses), step);
      place.replaceChildren(...(shown.length > 0 ? shown : [make("p", {}, `No response of step ${step} is in this page.`)]));
    }
    // The last step stays the last one when the page is read again.
    view.step = index === stepper.steps.length - 1 ? null : step;
  }

  // Opens and shows what the fragment of the address names.
  function showTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    for (let outer = target.closest("details"); outer !== null; outer = outer.parentElement.closest("details")) outer.open = true;
    if (target.localName === "figure") target.scrollIntoView({block: "center"});
  }

  function restore(kept) {
    if (axes.includes(kept.x)) view.x = kept.x;
    view.log = kept.log === true, view.smoothing = Number(kept.smoothing) || 0, view.step = kept.step ?? null;
    for (const run of kept.hidden ?? []) if (run < document.querySelectorAll("nav button").length) view.hidden.add(run), drawing.showOrHide(run);
    if (kept.open?.length === folded.length) folded.forEach((one, i) => { one.open = kept.open[i]; });
    if (refresh !== null) refresh.checked = kept.refresh !== false;
    if (axis !== null) axis.value = view.x;
    log.checked = view.log, slider.value = view.smoothing;
    drawing.redraw();
  }

  slider.addEventListener("input", () => { view.smoothing = Number(slider.value); changed(); });
  axis?.addEventListener("change", () => { view.x = axis.value; changed(); });
  log.addEventListener("change", () => { view.log = log.checked; changed(); });
  refresh?.addEventListener("change", () => remember());
  for (const button of document.querySelectorAll("button[data-run]")) button.addEventListener("click", () => remember());
  for (const one of folded) one.addEventListener("toggle", () => remember());
  addEventListener("hashchange", showTarget);

  const kept = history.state ?? {};
  restore(kept);
  if (stepper !== null) {
    const input = stepper.querySelector("input"), show = index => { showStep(index); remember(); };
    const found = stepper.steps.indexOf(view.step);
    input.addEventListener("input", () => show(Number(input.value)));
    stepper.querySelector(".previous").addEventListener("click", () => show(Number(input.value) - 1));
    stepper.querySelector(".next").addEventListener("click", () => show(Number(input.value) + 1));
    showStep(found < 0 ? stepper.steps.length - 1 : found);
  }
  if (kept.scroll === undefined) showTarget();
  else scrollTo(0, kept.scroll);
  remember({scroll: undefined});

  if (data.refresh) {
    setInterval(() => {
      const isReading = document.hidden || String(getSelection()) !== "";
      if (!refresh.checked || isReading) return;
      remember({scroll: scrollY});
      location.reload();
    }, 1000 * data.refresh);
  }
})();
