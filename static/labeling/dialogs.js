// The three dialogs: keys, skip with a reason, and two versions side by side.

import { byId } from "./dom.js";
import { drawVersion } from "./details.js";
import { drawKeys } from "./keys.js";

export function setUpHelp(keys) {
  const dialog = byId("help-dialog");
  const toggle = byId("single-keys");
  byId("help-keys").append(...drawKeys(keys.table));
  toggle.checked = keys.singleKeys;
  toggle.addEventListener("change", () => (keys.singleKeys = toggle.checked));
  closeButtons(dialog);
  return () => dialog.showModal();
}

// `skip(reason)` resolves when the server has it and throws with a message when it has not.
export function setUpSkip(skip) {
  const dialog = byId("skip-dialog");
  const reason = byId("skip-reason");
  const error = byId("skip-error");
  closeButtons(dialog);
  const send = async (event) => {
    event.preventDefault();
    error.textContent = reason.value.trim() ? "" : "Say why, in a few words.";
    if (error.textContent) return reason.focus();
    try {
      await skip(reason.value.trim());
    } catch (failure) {
      error.textContent = failure.message;
      reason.focus();
    }
  };
  dialog.querySelector("form").addEventListener("submit", send);
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  });
  return () => {
    error.textContent = "";
    dialog.showModal();
    reason.focus();
  };
}

// Resolves with "mine" or "theirs"; undefined when the dialog was only closed.
export function askWhichVersion({ fields, mine, theirs }) {
  const dialog = byId("conflict-dialog");
  byId("version-mine").replaceChildren(...drawVersion(fields, mine, theirs));
  byId("version-theirs").replaceChildren(...drawVersion(fields, theirs, mine));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue || undefined), { once: true });
  });
}

function closeButtons(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => dialog.close());
  }
}
