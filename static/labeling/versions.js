// Two versions of one answer, side by side: one is kept, and the other stays in the history.

import { drawDetails } from "./details.js";
import { byId, el } from "./dom.js";
import { Store } from "./store.js";
import { t } from "./texts.js";
import { written } from "./unsent.js";

/** @import { Work } from "./types.d.ts" */

/**
 * Resolves with "mine", "theirs" or nothing.
 *
 * @param {import("./types.d.ts").Layer[]} layers
 * @param {Work} mine
 * @param {Work} theirs
 */
export function askWhichVersion(layers, mine, theirs) {
  const dialog = byId("conflict-dialog");
  byId("version-mine").replaceChildren(...drawVersion(layers, mine, theirs));
  byId("version-theirs").replaceChildren(...drawVersion(layers, theirs, mine));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

export function drawVersion(layers, work, other) {
  const store = new Store(layers, work.payload, work);
  const others = new Store(layers, other.payload, other);
  if (!store.labels.length) return [el("p", { class: "muted" }, work.empty ? t("“Nothing here”") : t("No label"))];
  return store.labels.map((label) => drawLabel(label, others.label(label.uid), store));
}

function drawLabel(label, other, store) {
  const mark = !other ? t("only here") : written(label) === written(other) ? null : t("changed");
  return el(
    "details",
    { class: "card compact", open: Boolean(mark) },
    el(
      "summary",
      {},
      el("strong", {}, `${store.name(label.uid)} ${store.heading(label.uid) || t("Untitled")}`),
      mark ? el("span", { class: "badge warn" }, mark) : null,
    ),
    drawDetails(store.layerOf(label.uid)?.fields ?? [], label, store),
  );
}
