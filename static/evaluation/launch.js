// The form of a new run offers what fits the chosen gold. Without it everything is offered, each with its name.

import { all, showIf } from "../labeling/dom.js";

/** @type {HTMLFormElement | null} */
const form = document.querySelector("[data-launch]");
/** @type {any} */
const fields = form?.elements;
/** @type {HTMLSelectElement | null} */
const releases = fields?.namedItem("release");
/** @type {HTMLSelectElement | null} */
const pipelines = fields?.namedItem("pipeline");
/** @type {HTMLSelectElement | null} */
const splits = fields?.namedItem("split");

const listOf = (text) => (text ?? "").split(" ");

function chosenRelease() {
  return releases?.value ? releases.selectedOptions[0] : null;
}

function fits(layers) {
  const layer = chosenRelease()?.dataset.layer;
  return !layer || listOf(layers).includes(layer);
}

function offerPipelines() {
  if (!pipelines) return;
  for (const option of Array.from(pipelines.options)) {
    if (option.dataset.layers === undefined) continue;
    const fitting = fits(option.dataset.layers);
    option.hidden = !fitting;
    option.disabled = !fitting || option.dataset.withoutModel !== undefined;
    if (option.selected && option.disabled) pipelines.value = "";
  }
}

function showChosen() {
  if (releases) {
    offerPipelines();
    for (const part of all("[data-layers]:not(option)")) showIf(part, fits(part.dataset.layers));
  }
  for (const part of all("[data-pipeline]")) showIf(part, part.dataset.pipeline === pipelines?.value);
  for (const part of all("[data-pipelines]")) showIf(part, listOf(part.dataset.pipelines).includes(pipelines?.value ?? ""));
  const takesTests = ["all", "test"].includes(splits?.value ?? "");
  const hasTests = !releases || chosenRelease()?.dataset.testItems !== undefined;
  for (const part of all("[data-needs-reason]")) showIf(part, takesTests && hasTests);
}

if (form) {
  form.addEventListener("change", showChosen);
  showChosen();
}
