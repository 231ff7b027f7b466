// The dialog to skip with a reason.

import { byId } from "./dom.js";
import { t } from "./texts.js";

// `skip(reason)` resolves when the server has it and throws with a message when it has not.
export function setUpSkip(skip) {
  const dialog = byId("skip-dialog");
  const reason = byId("skip-reason");
  const error = byId("skip-error");
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  const send = async (event) => {
    event.preventDefault();
    error.textContent = reason.value.trim() ? "" : t("Say why, in a few words.");
    if (error.textContent) return reason.focus();
    try {
      await skip(reason.value.trim());
    } catch (failure) {
      if (!(failure instanceof Error)) throw failure;
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
