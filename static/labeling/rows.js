// What every control of a label's form has around it: its name, its help, its error.

import { el } from "./dom.js";

export const isBlank = (value) => value === undefined || value === null || !String(value).trim();

export const isOpen = (field, value) =>
  field.required && (Array.isArray(value) ? value.length < field.at_least : isBlank(value));

export const requiredClass = (field) => (field.required ? "label required" : "label");

const groupLabel = (field, id) =>
  el("span", { class: requiredClass(field), id: `${id}-label` }, field.label);

export const drawHelp = (field, id) => el("p", { class: "help", id: `${id}-help` }, field.help);

export const drawError = (id) => el("p", { class: "error", id: `${id}-error` });

export const drawRow = (label, children) =>
  el("div", { class: "field" }, label, el("div", { class: "field-control" }, ...children));

// A field that is more than one control: a group with the field's name.
export function drawGroup(field, id, children, role = "group") {
  const root = drawRow(groupLabel(field, id), [...children, drawError(id)]);
  root.setAttribute("role", role);
  root.setAttribute("aria-labelledby", `${id}-label`);
  root.setAttribute("aria-describedby", `${id}-help ${id}-error`);
  return root;
}

export function tinyButton(text, name, onClick) {
  const button = el("button", { type: "button", class: "icon-button tiny", "aria-label": name }, text);
  button.addEventListener("click", onClick);
  return button;
}

export function smallButton(text, onClick, props = {}) {
  const button = el("button", { type: "button", class: "button small quiet", ...props }, text);
  button.addEventListener("click", onClick);
  return button;
}
