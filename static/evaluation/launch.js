// Shows the settings of the chosen pipeline only. Without it all are shown, each with its name.

import { all } from "../labeling/dom.js";

/** @type {HTMLFormElement | null} */
const form = document.querySelector("[data-launch]");
/** @type {any} */
const chooser = form?.elements.namedItem("pipeline");

function showChosen() {
  for (const part of all("[data-pipeline]")) {
    part.hidden = part.dataset.pipeline !== chooser.value;
  }
}

if (chooser) {
  chooser.addEventListener("change", showChosen);
  showChosen();
}
