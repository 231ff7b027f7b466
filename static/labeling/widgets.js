// One control per field of the label schema. A widget is {root, focus, write}: `write` brings in a
// value from the state and leaves a control alone that already shows it.

import { el } from "./dom.js";

const CONFIDENCES = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3];

export const isOpen = (field, value) =>
  field.required && (Array.isArray(value) ? value.length < field.at_least : isBlank(value));

const isBlank = (value) => value === undefined || value === null || !String(value).trim();

export function drawWidget(field, id, handlers) {
  return (WIDGETS[field.widget] ?? drawText)(field, id, handlers);
}

function drawText(field, id, { onEdit, onEnd }) {
  const isLong = field.widget !== "text";
  const control = el(isLong ? "textarea" : "input", {
    id,
    rows: isLong ? 2 : null,
    type: isLong ? null : "text",
    autocomplete: "off",
    "aria-describedby": `${id}-help ${id}-error`,
    placeholder: field.help,
  });
  const codec = field.widget === "lines" ? LINES : textCodec(field);
  control.addEventListener("input", () => onEdit(codec.read(control.value)));
  control.addEventListener("blur", onEnd);
  const write = (value) => {
    const isShown = JSON.stringify(codec.read(control.value)) === JSON.stringify(value ?? codec.none);
    if (!isShown) control.value = codec.show(value);
  };
  const label = el("label", { for: id, class: requiredClass(field) }, field.label);
  const help = el("p", { class: "visually-hidden", id: `${id}-help` }, field.help);
  const root = drawRow(label, [control, help, drawError(id)]);
  return { root, control, focus: () => control.focus(), write };
}

const textCodec = (field) => ({
  none: field.required ? "" : null,
  read: (text) => text || (field.required ? "" : null),
  show: (value) => value ?? "",
});

const LINES = {
  none: [],
  read: (text) => text.split("\n").map((line) => line.trim()).filter(Boolean),
  show: (value) => (value ?? []).join("\n"),
};

function drawChoice(field, id, handlers) {
  const choices = field.choices.map((choice) => ({ ...choice, label: choice.label ?? choice.value }));
  return drawChips(field, id, choices, handlers);
}

function drawConfidence(field, id, handlers) {
  const choices = CONFIDENCES.map((value) => ({ value, label: value.toFixed(1) }));
  return drawChips(field, id, choices, handlers);
}

function drawChips(field, id, choices, { onEdit, onEnd }) {
  const box = el("div", { class: "chips" });
  const help = el("p", { class: "help", id: `${id}-help` }, field.help);
  const choose = (choice) => {
    onEdit(choice.value);
    onEnd();
  };
  const inputs = choices.map((choice, at) => addChip(box, id, choice, choose, keyOf(field, at)));
  const write = (value) => {
    for (const input of inputs) input.checked = input.value === String(value);
    if (!isBlank(value) && !inputs.some((input) => input.checked)) {
      inputs.push(addChip(box, id, { value, label: String(value) }, choose));
      inputs.at(-1).checked = true;
    }
    help.textContent = choices.find((choice) => choice.value === value)?.help ?? field.help;
    help.classList.toggle("visually-hidden", field.widget === "confidence" && !isBlank(value));
  };
  const root = drawRow(groupLabel(field, id), [box, help, drawError(id)]);
  describeGroup(root, id, "radiogroup");
  const focus = () => (inputs.find((input) => input.checked) ?? inputs[0]).focus();
  return { root, control: root, focus, write, values: choices.map((choice) => choice.value) };
}

// Digits choose the type, so they are printed on it.
const keyOf = (field, at) => (field.name === "type" ? String(at + 1) : null);

function addChip(box, id, choice, choose, key = null) {
  const input = el("input", { type: "radio", name: id, value: String(choice.value) });
  input.addEventListener("change", () => choose(choice));
  const name = el("span", {}, choice.label);
  const hint = key && el("kbd", { "aria-hidden": "true" }, key);
  box.append(el("label", { class: "chip", title: choice.help }, input, name, hint));
  return input;
}

function drawSources(field, id, { onUnlink, quote }) {
  const list = el("ul", { class: "sources" });
  const help = el("p", { class: "help", id: `${id}-help` }, field.help);
  const unlink = (index) => {
    onUnlink(index);
    root.focus(); // the pressed button is gone
  };
  const write = (indices = []) => {
    list.replaceChildren(...indices.map((index) => drawSource(index, quote(index), unlink)));
    help.classList.toggle("visually-hidden", indices.length > 0);
  };
  const root = drawRow(groupLabel(field, id), [list, help, drawError(id)]);
  describeGroup(root, id, "group");
  root.tabIndex = -1;
  return { root, control: root, focus: () => root.focus(), write };
}

function drawSource(index, text, onUnlink) {
  const remove = el(
    "button",
    { type: "button", class: "icon-button tiny", "aria-label": `Unlink message ${index}` },
    "×",
  );
  remove.addEventListener("click", () => onUnlink(index));
  const quote = el("span", { class: "source-quote" }, text);
  return el("li", { data: { source: index } }, el("span", { class: "index" }, index), quote, remove);
}

const requiredClass = (field) => (field.required ? "label required" : "label");

const groupLabel = (field, id) =>
  el("span", { class: requiredClass(field), id: `${id}-label` }, field.label);

const drawError = (id) => el("p", { class: "error", id: `${id}-error` });

const drawRow = (label, children) =>
  el("div", { class: "field" }, label, el("div", { class: "field-control" }, ...children));

function describeGroup(root, id, role) {
  root.setAttribute("role", role);
  root.setAttribute("aria-labelledby", `${id}-label`);
  root.setAttribute("aria-describedby", `${id}-help ${id}-error`);
}

const WIDGETS = {
  choice: drawChoice,
  confidence: drawConfidence,
  messages: drawSources,
};
