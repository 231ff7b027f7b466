// Labels to read, not to write: a submitted answer, and the two sides of a conflict.

import { el } from "./dom.js";

export function drawDetails(fields, label) {
  const rows = fields.map((field) => [field.label, valueOf(label[field.name])]);
  return el(
    "dl",
    { class: "details" },
    ...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

function valueOf(value) {
  if (Array.isArray(value) && value.every(Number.isInteger)) {
    return value.length ? value.map((index) => `[${index}]`).join(" ") : "–";
  }
  if (Array.isArray(value)) return el("ul", {}, ...value.map((line) => el("li", {}, line)));
  return value === undefined || value === null || value === "" ? "–" : String(value);
}

// One version of the answer; labels that the other version has differently are marked.
export function drawVersion(fields, work, other) {
  const labels = Object.values(work.payload ?? {}).flat();
  const others = new Map(Object.values(other.payload ?? {}).flat().map((label) => [label.uid, label]));
  if (!labels.length) {
    return [el("p", { class: "muted" }, work.empty ? "“Nothing here”" : "No label")];
  }
  return labels.map((label) => drawVersionLabel(fields, label, others.get(label.uid)));
}

function drawVersionLabel(fields, label, other) {
  const changed = other && fields.some(({ name }) => !isSame(label[name], other[name]));
  const mark = other ? changed && "changed" : "only here";
  return el(
    "details",
    { class: "card compact", open: Boolean(mark) },
    el(
      "summary",
      {},
      el("strong", {}, `${label.id} ${label.title || "Untitled"}`),
      mark ? el("span", { class: "badge warn" }, mark) : null,
    ),
    drawDetails(fields, label),
  );
}

const isSame = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
