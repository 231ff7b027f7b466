// Lights up the messages that a pair cites, and the pairs that cite a message; leads to other cases
// and from pair to pair by keys.

import { all, byId, focused, readJson } from "../labeling/dom.js";
import { Keys } from "../labeling/keys.js";

const page = document.querySelector("[data-case]");
let place = 0;

function sourcesOf(pair) {
  return pair.dataset.sources.split(" ").filter(Boolean);
}

/** @param {any} event */
function light(event) {
  const pair = event.target.closest("[data-sources]");
  const message = event.target.closest("[data-message]");
  const wanted = new Set(pair ? sourcesOf(pair) : []);
  for (const shown of all("[data-message]")) {
    shown.classList.toggle("lit", wanted.has(shown.dataset.message));
  }
  for (const shown of all("[data-sources]")) {
    const cites = message !== null && sourcesOf(shown).includes(message.dataset.message);
    shown.classList.toggle("lit", cites);
  }
}

page?.addEventListener("mouseover", light);
page?.addEventListener("focusin", light);

/** @param {string} step */
function follow(step) {
  /** @type {HTMLElement | null} */
  const link = document.querySelector(`[data-step="${step}"]`);
  link?.click();
  return link !== null;
}

/** @param {number} by */
function walk(by) {
  const pairs = all(".pair").filter((pair) => !pair.hidden);
  const at = pairs.findIndex((pair) => pair.contains(focused()));
  const pair = pairs[at < 0 && by < 0 ? pairs.length - 1 : at + by];
  if (!pair) return false;
  pair.focus();
  return nextSource(0);
}

// Only the list of messages scrolls: the page stays where the pair is.
/** @param {number} by */
function nextSource(by) {
  const pair = all(".pair").find((each) => each.contains(focused()));
  const sources = pair ? sourcesOf(pair) : [];
  place = by ? (place + by) % Math.max(1, sources.length) : 0;
  const message = document.getElementById(`message-${sources[place]}`);
  const list = message?.parentElement;
  if (message && list) {
    list.scrollTop += message.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 3;
  }
  return pair !== undefined;
}

function toggle() {
  const fold = all(".pair").find((each) => each.contains(focused()))?.querySelector("details");
  if (!fold) return false;
  fold.open = !fold.open;
  return true;
}

new Keys(
  readJson("keys"),
  {
    next: () => follow("next"),
    previous: () => follow("previous"),
    "next-failure": () => follow("next-failure"),
    "previous-failure": () => follow("previous-failure"),
    "next-pair": () => walk(1),
    "previous-pair": () => walk(-1),
    source: () => nextSource(1),
    open: toggle,
  },
  byId("case-keys").dataset.user,
);
