// Two versions of one answer, side by side: keep one, or the labels of both.

import { drawDetails } from "./details.js";
import { byId, el } from "./dom.js";
import { compared, unitedWork } from "./merging.js";
import { Store } from "./store.js";
import { t } from "./texts.js";

// Resolves with {choice: "mine" | "theirs" | "both" | undefined, work}, which has the labels of both.
export function askWhichVersion({ store, mine, theirs }) {
  const { layers } = store;
  const dialog = byId("conflict-dialog");
  const pairs = compared(layers, mine, theirs);
  const stores = { mine: new Store(layers, mine.payload, mine), theirs: new Store(layers, theirs.payload, theirs) };
  for (const side of ["mine", "theirs"]) byId(`version-${side}`).replaceChildren(...drawVersion(pairs, side, stores[side]));
  const payload = unitedWork(layers, pairs);
  const isOpen = (layer) => !payload[layer.key].length && !stores.mine.isNothing(layer) && !stores.theirs.isNothing(layer);
  const work = { payload, unanswered: layers.filter(isOpen).map(({ name }) => name) };
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve({ choice: dialog.returnValue || undefined, work }), { once: true });
  });
}

function drawVersion(pairs, side, store) {
  const present = pairs.filter((pair) => pair[side]);
  if (!present.length) return [el("p", { class: "muted" }, store.said.empty ? t("“Nothing here”") : t("No label"))];
  return present.map((pair) => drawVersionLabel(pair, side, store));
}

function drawVersionLabel({ layer, uid, mine, theirs, isSame }, side, store) {
  const mark = isSame ? null : mine && theirs ? t("changed") : t("only here");
  return el(
    "details",
    { class: "card compact", open: Boolean(mark) },
    el(
      "summary",
      {},
      el("strong", {}, `${store.name(uid)} ${store.heading(uid) || t("Untitled")}`),
      mark ? el("span", { class: "badge warn" }, mark) : null,
    ),
    drawDetails(layer.fields, side === "mine" ? mine : theirs, store),
  );
}
