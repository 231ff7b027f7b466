// Labels to read, not to write: a submitted answer, and the two sides of a conflict.

import { el } from "./dom.js";
import { isBlank } from "./rows.js";
import { wordsOf } from "./widgets.js";

// `store` names the labels that others point to.
export function drawDetails(fields, label, store) {
  const rows = fields.map((field) => [field.label, drawValue(field, label[field.name], store)]);
  return el(
    "dl",
    { class: "facts" },
    ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

export function drawValue(field, value, store) {
  if (isBlank(value)) return "–";
  return (DRAW[field.widget] ?? String)(value, field, store);
}

const drawList = (items) => el("ul", {}, ...items.map((item) => el("li", {}, item)));

const drawMessages = (indices) => indices.map((index) => `[${index}]`).join(" ") || "–";

const drawWords = (span) =>
  span ? `${span.message === undefined ? "" : `[${span.message}] `}“${span.text}”` : "–";

const DRAW = {
  choice: (value, field) => wordsOf(field.choices.find((choice) => choice.value === value) ?? { value }),
  lines: drawList,
  messages: drawMessages,
  references: (uids, _, store) => drawList([uids].flat().map((uid) => store.name(uid) || "(deleted)")),
  span: drawWords,
  phases: (phases, field, store) => drawList(phases.map((phase) => drawDetails(field.fields, phase, store))),
  arguments: (rows) => drawList(rows.map((row) => `${row.role}: ${drawWords(row.span)}`)),
};
