// What has changed between two versions, in words and color: by label, then by field.

import { drawValue } from "./details.js";
import { el } from "./dom.js";
import { headingOf } from "./layers.js";
import { t } from "./texts.js";

const KINDS = { added: [t("Added"), "ok"], removed: [t("Removed"), "bad"], changed: [t("Changed"), "warn"] };
const TAGS = { removed: "del", added: "ins", same: "span" };

// `since` as the API gives it; `store` knows the layers and names the labels that others point to.
export function drawChanges(since, store) {
  const rows = since.labels.map((change) => drawLabel(change, store));
  const notes = since.reordered.map(() => t("The labels are in another order."));
  if (since.empty) notes.unshift(t("“Nothing here” was said or taken back."));
  return [...notes.map((text) => el("p", { class: "small" }, text)), ...rows];
}

function drawLabel({ kind, key, values, changes }, store) {
  const layer = store.layers.find((candidate) => candidate.key === key);
  const [word, tone] = KINDS[kind];
  const heading = layer ? headingOf(layer, values, store) : "";
  return el(
    "div",
    { class: `change ${kind}` },
    el(
      "p",
      { class: "change-head" },
      el("span", { class: `badge ${tone}` }, word),
      " ",
      el("strong", {}, [values.id, heading].filter(Boolean).join(" ") || layer?.title || key),
    ),
    changes.length ? el("dl", { class: "facts" }, ...changes.flatMap((change) => drawField(change, layer, store))) : null,
  );
}

function drawField({ name, before, after, parts }, layer, store) {
  const field = layer?.fields.find((candidate) => candidate.name === name) ?? { name, label: name };
  const values = parts.length ? parts.map(drawPart) : drawBoth(field, before, after, store);
  return [el("dt", {}, field.label), el("dd", {}, ...values)];
}

function drawPart({ kind, text }) {
  return el(TAGS[kind], {}, text);
}

function drawBoth(field, before, after, store) {
  return [
    el("del", {}, drawValue(field, before, store)),
    " ",
    el("ins", {}, drawValue(field, after, store)),
  ];
}
