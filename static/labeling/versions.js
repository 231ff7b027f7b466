// Two versions of one answer, side by side: keep one, or put them together label by label.

import { drawDetails } from "./details.js";
import { byId, el } from "./dom.js";
import { headingOf, nameOf } from "./layers.js";
import { compared, mergedWork } from "./merging.js";
import { Store } from "./store.js";
import { t } from "./texts.js";

// Resolves with {choice: "mine" | "theirs" | "merge" | undefined, work}.
export function askWhichVersion({ store, mine, theirs }) {
  const { layers } = store;
  const dialog = byId("conflict-dialog");
  const pairs = compared(layers, mine, theirs);
  const stores = {
    mine: new Store(layers, mine.payload, mine),
    theirs: new Store(layers, theirs.payload, theirs),
  };
  const choices = drawChoices(pairs, stores);
  for (const side of ["mine", "theirs"]) {
    byId(`version-${side}`).replaceChildren(...drawVersion(pairs, side, stores[side]));
  }
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const settle = () => resolve({ choice: dialog.returnValue || undefined, work: merge() });
    const merge = () => {
      const payload = mergedWork(layers, pairs, choices);
      const saysNothing = (layer) => !payload[layer.key]?.length && [stores.mine, stores.theirs].some((side) => side.isNothing(layer));
      const isOpen = (layer) => !payload[layer.key]?.length && !saysNothing(layer);
      return { payload, unanswered: layers.filter(isOpen).map(({ name }) => name) };
    };
    dialog.addEventListener("close", settle, { once: true });
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

// One row of choices for each label that differs; nothing is lost unless somebody says so.
function drawChoices(pairs, stores) {
  const differing = pairs.filter((pair) => !pair.isSame);
  const choices = {};
  const rows = differing.map((pair) => drawChoice(pair, stores, choices));
  byId("version-choices").replaceChildren(...rows);
  return choices;
}

function drawChoice({ layer, uid, mine, theirs }, stores, choices) {
  const store = mine ? stores.mine : stores.theirs;
  const label = mine ?? theirs;
  const at = store.inLayer(layer).indexOf(label);
  const offers = mine && theirs ? CHANGED : mine ? ONLY_MINE : ONLY_THEIRS;
  const name = `${nameOf(layer, label, at)} ${headingOf(layer, label, store) || t("Untitled")}`;
  choices[uid] = offers[0][0];
  const chips = offers.map(([value, text]) => {
    const input = el("input", { type: "radio", name: `version-${uid}`, value, checked: value === choices[uid] });
    input.addEventListener("change", () => (choices[uid] = value));
    return el("label", { class: "chip" }, input, el("span", {}, text));
  });
  return el("fieldset", {}, el("legend", {}, name), el("div", { class: "chips" }, ...chips));
}

const CHANGED = [
  ["mine", t("Mine")],
  ["theirs", t("Theirs")],
  ["both", t("Both")],
];
const ONLY_MINE = [
  ["mine", t("Keep (only on this page)")],
  ["none", t("Leave out")],
];
const ONLY_THEIRS = [
  ["theirs", t("Keep (only saved elsewhere)")],
  ["none", t("Leave out")],
];
