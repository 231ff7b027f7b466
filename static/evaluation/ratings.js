// Rating by keyboard: a digit rates the current entry and goes on, x gives ten points.

import { byId, readJson } from "../labeling/dom.js";
import { Keys } from "../labeling/keys.js";
import { t } from "../labeling/texts.js";

const list = byId("rated-labels");
let current = list.querySelector(".rated:not(.decided)") ?? list.firstElementChild;
let goOn = false;

const entries = () => [...list.querySelectorAll(".rated")];

function mark(entry) {
  current = entry;
  for (const other of entries()) other.removeAttribute("aria-current");
  entry.setAttribute("aria-current", "true");
}

function show(entry) {
  mark(entry);
  if (!entry.contains(document.activeElement)) entry.focus({ preventScroll: true });
  entry.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = entries();
  const at = all.indexOf(current) + by;
  if (at >= all.length) byId("next-page")?.focus();
  else show(all[Math.max(at, 0)]);
}

function rate(score) {
  const button = current.querySelector(`[data-score="${score}"]`);
  const ended = document.activeElement === byId("next-page"); // what comes now is on another page
  if (!button || ended) return false;
  goOn = true;
  button.click();
  return true;
}

const actions = {
  next: () => step(current.hasAttribute("aria-current") ? 1 : 0),
  previous: () => step(-1),
  rate,
  ten: () => rate(10),
  write: () => current.querySelector("textarea")?.focus(),
  leave: () => current.focus({ preventScroll: true }),
  talk: () => current.querySelector("summary")?.click(),
};

new Keys(readJson("keys"), actions, list.dataset.user);
mark(current);

list.addEventListener("focusin", ({ target }) => {
  const entry = target.closest(".rated");
  if (entry && entry !== current) mark(entry);
});

// The entry was replaced: with the keyboard the next one follows, with the mouse it stays. The
// line of progress is replaced by the same answer, in a separate event.
document.addEventListener("htmx:afterSwap", (/** @type {any} */ { target }) => {
  if (!target.matches(".rated")) return;
  const entry = byId(target.id);
  show(entry);
  if (goOn) step(1);
  goOn = false;
});

function refuse(text) {
  goOn = false;
  const refused = byId("refused");
  refused.className = "notice bad";
  refused.textContent = text;
}

document.addEventListener("htmx:responseError", (/** @type {any} */ { detail }) =>
  refuse(detail.xhr.status === 400 ? detail.xhr.responseText : t("It was not stored: reload the page.")),
);
document.addEventListener("htmx:sendError", () => refuse(t("No connection: nothing was stored. Send it again.")));
