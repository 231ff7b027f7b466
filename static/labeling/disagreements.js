// The discussion of a round by keyboard: one disagreement at a time, digits decide.

import { byId, focused, readJson } from "./dom.js";
import { Keys } from "./keys.js";
import { t } from "./texts.js";

const page = byId("discussion");
const entry = () => /** @type {HTMLElement} */ (page.querySelector(".disagreement"));
/** @param {string} selector */
const inEntry = (selector) => /** @type {HTMLElement | null} */ (entry().querySelector(selector));

/** What is typed and not sent. @returns {(HTMLTextAreaElement | HTMLInputElement)[]} */
const unsent = () =>
  [...entry().querySelectorAll(/** @type {any} */ ("[data-remark], [name='note']"))].filter(
    (field) => field.value !== field.defaultValue,
  );

let isSending = false;
let waitingStep = ""; // asked for while something is being sent, and taken when it has been stored

function step(name) {
  if (isSending) {
    waitingStep = name;
    return;
  }
  const [field] = unsent();
  if (field) {
    field.focus();
    refuse(t("Send or clear what you wrote first."));
  } else {
    /** @type {HTMLAnchorElement | null} */ (page.querySelector(`[data-step="${name}"]`))?.click();
  }
}

function send() {
  const remark = focused();
  if (!remark.matches("[data-remark]")) return false;
  remark.closest("form")?.requestSubmit();
  return true;
}

const actions = {
  next: () => step("next"),
  previous: () => step("previous"),
  write: () => inEntry("[data-remark]")?.focus(),
  send,
  leave: () => entry().focus({ preventScroll: true }),
  decide: (digit) => inEntry(`[data-outcome="${digit}"]`)?.click(),
  guideline: () => inEntry("[data-guideline]")?.click(),
};

new Keys(readJson("keys"), actions, page.dataset.user);

entry().focus({ preventScroll: true });

// The list alone scrolls: on a phone it is below what the page is about.
const here = page.querySelector(".disagreement-list [aria-current]");
const list = here?.closest("ol");
if (here && list) {
  const below = here.getBoundingClientRect().top - list.getBoundingClientRect().top;
  list.scrollTop += below - (list.clientHeight - here.clientHeight) / 2;
}

// Another page would lose what was typed.
addEventListener("beforeunload", (event) => {
  if (!isSending && unsent().length) event.preventDefault();
});
page.addEventListener("submit", () => (isSending = true));

function refuse(text) {
  isSending = false;
  waitingStep = "";
  const refused = byId("refused");
  refused.className = "notice bad";
  refused.textContent = text;
}

// The entry was replaced: its end is what comes next, the outcomes below the remark, unless all of it fits.
document.addEventListener("htmx:afterSwap", (/** @type {any} */ { detail }) => {
  isSending = false;
  byId("refused").className = "visually-hidden";
  if (byId(detail.target.id)?.matches(".disagreement")) {
    entry().focus({ preventScroll: true });
    entry().scrollIntoView({ block: "nearest" });
  }
  const next = waitingStep;
  waitingStep = "";
  if (next) step(next);
});

document.addEventListener("htmx:responseError", (/** @type {any} */ { detail }) =>
  refuse(detail.xhr.status === 400 ? detail.xhr.responseText : t("It was not stored: reload the page.")),
);

document.addEventListener("htmx:sendError", () => refuse(t("No connection: nothing was stored. Send it again.")));
