// The table of keys: what each does.

import { byId, el } from "./dom.js";
import { keyParts } from "./keys.js";
import { t } from "./texts.js";

/** @import { KeyRow } from "./types.d.ts" */

export function setUpKeyTable({ table }) {
  const dialog = byId("help-dialog");
  const groups = Map.groupBy(table, (row) => row.group);
  byId("help-keys").replaceChildren(...[...groups].map(([name, rows]) => drawGroup(name, rows)));
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  return () => dialog.showModal();
}

function drawGroup(name, rows) {
  const lines = [...Map.groupBy(rows, (row) => row.label)].map(([label, same]) =>
    el("div", {}, el("dt", {}, ...same.flatMap(drawKey)), el("dd", {}, label)),
  );
  return el("section", {}, el("h3", {}, name), el("dl", { class: "facts" }, ...lines));
}

/** @type {(row: KeyRow, at: number) => any[]} */
function drawKey({ key }, at) {
  const parts = keyParts(key).map((part) => el("kbd", {}, part));
  const names = parts.flatMap((part, i) => (i ? ["+", part] : [part]));
  return [...(at ? [" ", t("or"), " "] : []), el("span", { class: "nowrap" }, ...names)];
}
