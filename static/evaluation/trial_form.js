// The form of a trial shows the settings of the chosen pipeline. Without it everything is shown.

import { all, showIf } from "../labeling/dom.js";

/** @type {HTMLFormElement | null} */
const form = document.querySelector("[data-trial]");

function showChosen() {
  /** @type {any} */
  const pipelines = form?.elements.namedItem("pipeline");
  const chosen = pipelines?.value;
  for (const part of all("[data-pipeline]")) showIf(part, part.dataset.pipeline === chosen);
  for (const part of all("[data-questions]")) showIf(part, part.dataset.questions?.split(" ").includes(chosen) ?? false);
}

form?.addEventListener("change", showChosen);
if (form) showChosen();
