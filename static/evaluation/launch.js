// Shows the settings of the chosen pipeline only. Without it all are shown, each with its name.

const form = document.querySelector("[data-launch]");
const chooser = form?.elements.namedItem("pipeline");

function showChosen() {
  for (const part of form.querySelectorAll("[data-pipeline]")) {
    part.hidden = part.dataset.pipeline !== chooser.value;
  }
}

if (chooser) {
  chooser.addEventListener("change", showChosen);
  showChosen();
}
