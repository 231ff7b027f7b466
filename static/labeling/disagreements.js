// The discussion of a round by keyboard: from one disagreement to the next, digits decide.

import { byId, focused, readJson } from "./dom.js";
import { Keys } from "./keys.js";
import { t } from "./texts.js";

const list = byId("disagreements");
let current = list.firstElementChild;

const entries = () => [...list.querySelectorAll(".disagreement")];

function mark(entry) {
  current = entry;
  for (const other of entries()) other.removeAttribute("aria-current");
  entry.setAttribute("aria-current", "true");
}

function show(entry) {
  if (!entry) return;
  mark(entry);
  if (!entry.contains(document.activeElement)) entry.focus({ preventScroll: true });
  entry.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = entries();
  const at = all.indexOf(current);
  show(all[Math.min(Math.max(at + by, 0), all.length - 1)]);
}

function send() {
  const remark = focused();
  if (!remark.matches("[data-remark]")) return false;
  remark.closest("form")?.requestSubmit();
  return true;
}

const actions = {
  next: () => step(current.hasAttribute("aria-current") ? 1 : 0),
  previous: () => step(-1),
  write: () => current.querySelector("[data-remark]")?.focus(),
  send,
  leave: () => current.focus({ preventScroll: true }),
  decide: (digit) => current.querySelector(`[data-outcome="${digit}"]`)?.click(),
};

const keys = new Keys(readJson("keys"), actions, list.dataset.user);
const single = byId("single-keys");
single.checked = keys.singleKeys;
single.addEventListener("change", () => (keys.singleKeys = single.checked));

// Nothing scrolls here: it would move what is being clicked away from under the pointer.
list.addEventListener("focusin", ({ target }) => {
  const entry = target.closest(".disagreement");
  if (entry && entry !== current) mark(entry);
});

// The entry was replaced: the place in the list stays.
document.addEventListener("htmx:afterSwap", (/** @type {any} */ { detail }) => {
  const entry = byId(detail.target.id);
  if (entry?.matches(".disagreement")) show(entry);
});

document.addEventListener("htmx:responseError", (/** @type {any} */ { detail }) => {
  const refused = byId("refused");
  refused.className = "notice bad";
  refused.textContent =
    detail.xhr.status === 400 ? detail.xhr.responseText : t("It was not stored: reload the page.");
});

document.addEventListener("htmx:sendError", () => {
  const refused = byId("refused");
  refused.className = "notice bad";
  refused.textContent = t("No connection: nothing was stored. Send it again.");
});
