// Lights up the messages that a pair cites, and the pairs that cite a message; leads to other cases by keys.

import { all, byId, readJson } from "../labeling/dom.js";
import { Keys } from "../labeling/keys.js";

const page = document.querySelector("[data-case]");

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

new Keys(
  readJson("keys"),
  {
    next: () => follow("next"),
    previous: () => follow("previous"),
    "next-failure": () => follow("next-failure"),
    "previous-failure": () => follow("previous-failure"),
  },
  byId("case-keys").dataset.user,
);
