// What the fields of a label say about messages and other labels, whatever layer the label is of.
// Layers and their fields come from the label schema; a span is {message, start, end, text}.

/** @import { Field } from "./types.d.ts" */

const inMessage = (span) => (span?.message === undefined ? [] : [span]);

const SPANS = {
  span: inMessage,
  arguments: (rows) => (rows ?? []).flatMap((row) => inMessage(row.span)),
};

const MESSAGES = {
  messages: (indices) => indices ?? [],
  phases: (phases) => (phases ?? []).flatMap((phase) => phase.evidence ?? []),
};

export function spansOf(layer, label) {
  return layer.fields.flatMap((field) => SPANS[field.widget]?.(label[field.name]) ?? []);
}

export function citedMessages(layer, label) {
  const named = layer.fields.flatMap((field) => MESSAGES[field.widget]?.(label[field.name]) ?? []);
  return new Set([...named, ...spansOf(layer, label).map((span) => span.message)]);
}

/** @type {(owner: { fields: Field[] }, widget: string) => Field | undefined} */
export const fieldOf = (layer, widget) => layer.fields.find((field) => field.widget === widget);

// The field that takes whole messages, if the layer has one.
export const linkFieldOf = (layer) => fieldOf(layer, "messages") ?? fieldOf(layer, "phases");

// The kind of text that a layer takes words of: "message", "field" or none.
export function wordsWithin(layer) {
  const span = fieldOf(layer, "span");
  return span?.within ?? (fieldOf(layer, "arguments") ? "message" : null);
}

// The fields that take a digit while they have the focus.
export const takesDigits = ({ widget, choices }) => widget === "confidence" || (widget === "choice" && choices.length > 0);

export const numberOf = (id) => Number.parseInt(id?.split("-")[1], 10) || 0;

export const idOf = (prefix, number) => `${prefix}-${String(number).padStart(3, "0")}`;

// How a label is called: by its own number, or by its place among its like.
export const nameOf = (layer, label, position) => label.id ?? idOf(layer.prefix, position + 1);

// The text by which a person knows a label.
export function headingOf(layer, label, store) {
  const value = label[layer.heading];
  if (value && typeof value === "object") return value.text ?? "";
  if (layer.fields.find(({ name }) => name === layer.heading)?.widget !== "references") {
    return value ?? "";
  }
  return value ? `${store.name(value)} ${store.heading(value)}`.trim() : "";
}

// The text of one field of a label, as spans within a field count it.
export function fieldText(label, name) {
  const value = label?.[name];
  return (Array.isArray(value) ? value.join("\n") : value) ?? "";
}

// The messages with this one added, or taken out.
export function toggled(messages, index) {
  const linked = new Set(messages ?? []);
  if (!linked.delete(index)) linked.add(index);
  return [...linked].sort((a, b) => a - b);
}
