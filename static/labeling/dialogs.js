// Small dialogs: skip with a reason, and which label to merge with.

import { byId, el } from "./dom.js";
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

// Resolves with the uid of the label that was picked; undefined when the dialog was only closed.
export function pickLabel({ name, others }) {
  const dialog = byId("merge-dialog");
  const list = byId("merge-labels");
  const options = others.map(({ uid, name: title, heading }) => el("option", { value: uid }, `${title} ${heading || t("Untitled")}`));
  byId("merge-name").textContent = name;
  list.replaceChildren(...options);
  list.size = Math.min(10, Math.max(2, options.length));
  list.selectedIndex = 0;
  dialog.returnValue = "";
  dialog.showModal();
  list.focus();
  list.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    dialog.close("merge");
  };
  return new Promise((resolve) => {
    const settle = () => resolve(dialog.returnValue === "merge" ? list.value : undefined);
    dialog.addEventListener("close", settle, { once: true });
  });
}
