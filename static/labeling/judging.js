// Judging by keyboard: a letter takes a side, j and k go through the messages that a side cites.

import { all, byId, readJson } from "./dom.js";
import { Keys } from "./keys.js";

const form = /** @type {HTMLFormElement} */ (byId("verdict"));
const reason = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea[name=reason]"));
const own = /** @type {HTMLDetailsElement} */ (byId("own"));
const cited = () => /** @type {HTMLElement[]} */ (all("#turns .cited"));
let at = -1;

/** @param {number} by */
function step(by) {
  const messages = cited();
  if (!messages.length) return false;
  at = Math.min(Math.max(at + by, 0), messages.length - 1);
  messages[at].focus({ preventScroll: true });
  messages[at].scrollIntoView({ block: "center" });
  return true;
}

/** @param {string} value */
function choose(value) {
  const radio = /** @type {HTMLInputElement} */ (form.querySelector(`[name=choice][value=${value}]`));
  radio.checked = true;
  own.open = value === "neither";
  reason.focus();
  return true;
}

const keys = new Keys(
  readJson("keys"),
  {
    a: () => choose("a"),
    b: () => choose("b"),
    both: () => choose("both"),
    neither: () => choose("neither"),
    next: () => step(1),
    previous: () => step(-1),
    write: () => reason.focus(),
    leave: () => /** @type {HTMLElement} */ (document.activeElement).blur(),
    submit: () => form.requestSubmit(),
  },
  byId("judging").dataset.user,
);
const single = /** @type {HTMLInputElement} */ (byId("single-keys"));
single.checked = keys.singleKeys;
single.addEventListener("change", () => (keys.singleKeys = single.checked));
form.addEventListener("change", (event) => {
  const target = /** @type {HTMLInputElement} */ (event.target);
  if (target.name === "choice") own.open = target.value === "neither";
});
step(1);
