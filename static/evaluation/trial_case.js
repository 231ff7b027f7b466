// What a pipeline returned next to the conversation: from label to label by keys, with the messages
// of each lit up and scrolled to; and labels hidden that the pipeline is less sure of.

import { all, byId, focused, readJson, showIf } from "../labeling/dom.js";
import { Keys } from "../labeling/keys.js";
import { t } from "../labeling/texts.js";

const page = document.querySelector("[data-trial-case]");
/** @type {HTMLElement | null} */
let chosen = null;
let place = -1;

const sourcesOf = (label) => label.dataset.sources.split(" ").filter(Boolean);
const shownLabels = () => all(".trial-label").filter((label) => !label.hidden);

/** @param {Set<string>} wanted */
function light(wanted) {
  for (const message of all("[data-message]")) {
    message.classList.toggle("lit", wanted.has(message.dataset.message ?? ""));
  }
}

// Only the list of messages scrolls: the page stays where the label is.
function reveal(number) {
  const message = document.getElementById(`message-${number}`);
  const list = message?.parentElement;
  if (!message || !list) return;
  const by = message.getBoundingClientRect().top - list.getBoundingClientRect().top;
  list.scrollTop += by - list.clientHeight / 3;
}

/** @param {HTMLElement} label */
function choose(label) {
  if (chosen === label) return;
  chosen?.classList.remove("chosen");
  chosen = label;
  place = 0;
  label.classList.add("chosen");
  const sources = sourcesOf(label);
  light(new Set(sources));
  if (sources.length) reveal(sources[0]);
}

/** @param {number} by */
function walk(by) {
  const labels = shownLabels();
  const at = labels.findIndex((label) => label === chosen || label.contains(focused()));
  const label = labels[at < 0 && by < 0 ? labels.length - 1 : at + by];
  if (!label) return false;
  choose(label);
  label.focus();
  return true;
}

function nextSource() {
  if (!chosen) return walk(1);
  const sources = sourcesOf(chosen);
  if (!sources.length) return false;
  place = (place + 1) % sources.length;
  reveal(sources[place]);
  return true;
}

function toggle() {
  const fold = chosen?.querySelector("details");
  if (!fold) return false;
  fold.open = !fold.open;
  return true;
}

/** @param {any} event */
function touched(event) {
  const label = event.target.closest(".trial-label");
  if (label) choose(label);
}

page?.addEventListener("click", touched);
page?.addEventListener("focusin", touched);

/** @type {any} */
const least = document.getElementById("least-confidence");
if (least) {
  least.closest("label").hidden = false;
  const filter = () => {
    const number = Number(least.value);
    byId("least-shown").textContent = number.toFixed(2);
    let hidden = 0;
    for (const label of all(".trial-label[data-confidence]")) {
      const isShown = Number(label.dataset.confidence) >= number;
      showIf(label, isShown);
      hidden += isShown ? 0 : 1;
    }
    byId("hidden-labels").textContent = hidden ? t("{n} labels are hidden.", { n: hidden }) : "";
  };
  least.addEventListener("input", filter);
  filter();
}

new Keys(
  readJson("keys"),
  { next: () => walk(1), previous: () => walk(-1), open: toggle, source: nextSource },
  byId("case-keys").dataset.user,
);
