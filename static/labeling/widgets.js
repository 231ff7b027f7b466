// One control per field of the label schema. A widget is {root, control, focus, write}: `write`
// brings in a value from the state and leaves a control alone that already shows it.

import { all, el, setText } from "./dom.js";
import { drawError, drawGroup, drawHelp, drawRow, isBlank, requiredClass, tinyButton } from "./rows.js";
import { t } from "./texts.js";

const CONFIDENCES = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3];

export function drawWidget(field, id, handlers) {
  if (field.widget === "choice" && !field.choices.length) return drawText(field, id, handlers);
  return (WIDGETS[field.widget] ?? drawText)(field, id, handlers);
}

function drawText(field, id, { onEdit, onEnd }) {
  const isLong = ["textarea", "lines"].includes(field.widget);
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
  const choices = field.choices.map((choice) => ({ ...choice, label: wordsOf(choice) }));
  return drawChips(field, id, choices, handlers);
}

// "ambiguous_verb" is what is stored, and 2 on a scale: people read words.
export const wordsOf = ({ value, title, help }) =>
  Number.isInteger(value) && help ? `${value} · ${help}` : (title ?? String(value));

function drawConfidence(field, id, handlers) {
  const choices = CONFIDENCES.map((value) => ({ value, label: value.toFixed(1) }));
  return drawChips(field, id, choices, handlers);
}

function drawChips(field, id, choices, { onEdit, onEnd }) {
  const box = el("div", { class: "chips" });
  const help = drawHelp(field, id);
  const choose = (choice) => {
    onEdit(choice.value);
    onEnd();
  };
  const isScale = choices.every(({ value }) => Number.isInteger(value));
  const hasNames = field.widget !== "confidence"; // a digit of a confidence is what is printed on it
  const digit = (at) => (hasNames && at < 9 ? String(isScale ? choices[at].value : at + 1) : "");
  const inputs = choices.map((choice, at) => addChip(box, id, choice, choose, digit(at)));
  const write = (value) => {
    for (const input of inputs) input.checked = input.value === String(value);
    if (!isBlank(value) && !inputs.some((input) => input.checked)) {
      inputs.push(addChip(box, id, { value, label: String(value) }, choose));
      inputs.at(-1).checked = true;
    }
    // Tab and the arrows go on from what is chosen, also where a key has chosen it.
    if (box.contains(document.activeElement)) inputs.find((input) => input.checked)?.focus();
    setText(help, choices.find((choice) => choice.value === value)?.help ?? field.help);
    help.classList.toggle("visually-hidden", field.widget === "confidence" && !isBlank(value));
  };
  const root = drawGroup(field, id, [box, help], "radiogroup");
  const focus = () => (inputs.find((input) => input.checked) ?? inputs[0]).focus();
  return { root, control: root, focus, write, values: choices.map((choice) => choice.value) };
}

// Digits choose in the field that has the focus; the style sheet shows them there.
function addChip(box, id, choice, choose, key = "") {
  const input = el("input", { type: "radio", name: id, value: String(choice.value) });
  input.addEventListener("change", () => choose(choice));
  const name = el("span", {}, choice.label);
  const hint = key ? el("kbd", { "aria-hidden": "true" }, key) : null;
  box.append(el("label", { class: "chip", title: choice.help }, input, name, hint));
  return input;
}

function drawSources(field, id, { onUnlink, quote }) {
  const list = el("ul", { class: "sources" });
  const help = drawHelp(field, id);
  const unlink = (index) => {
    onUnlink(index);
    root.focus(); // the pressed button is gone
  };
  let drawn = "";
  const write = (indices = []) => {
    if (indices.join() === drawn) return;
    drawn = indices.join();
    list.replaceChildren(...indices.map((index) => drawSource(index, quote(index), unlink)));
    help.classList.toggle("visually-hidden", indices.length > 0);
  };
  const root = drawGroup(field, id, [list, help]);
  root.tabIndex = -1;
  return { root, control: root, focus: () => root.focus(), write };
}

function drawSource(index, text, onUnlink) {
  const remove = tinyButton("×", t("Unlink message {index}", { index }), () => onUnlink(index));
  const quote = el("span", { class: "source-quote" }, text);
  return el("li", { data: { source: index } }, el("span", { class: "index" }, index), quote, remove);
}

// Other labels to point to. A label that is gone stays shown until it is unchosen.
function drawReferences(field, id, { onEdit, onEnd, labelsOf }) {
  const box = el("div", { class: "references" });
  const help = drawHelp(field, id);
  const root = drawGroup(field, id, [box, help], field.many ? "group" : "radiogroup");
  let drawn = "";
  let chosen = [];
  const choose = (uid, isChosen) => {
    const left = chosen.filter((other) => other !== uid);
    onEdit(field.many ? (isChosen ? [...left, uid] : left) : uid);
    onEnd();
  };
  const draw = (offers) => {
    drawn = JSON.stringify(offers);
    box.replaceChildren(...offers.map((offer) => drawOffer(field, id, offer, choose)));
    if (!offers.length) box.append(el("p", { class: "muted small" }, t("There is no label to choose yet.")));
  };
  const write = (value) => {
    chosen = [value ?? []].flat();
    const offers = labelsOf(field.of);
    if (JSON.stringify(offers) !== drawn) draw(offers);
    for (const input of box.querySelectorAll("input")) input.checked = chosen.includes(input.value);
  };
  const focus = () => (all("input:checked", box)[0] ?? all("input", box)[0])?.focus();
  return { root, control: root, focus, write };
}

function drawOffer(field, id, { uid, name, heading }, choose) {
  const type = field.many ? "checkbox" : "radio";
  const input = el("input", { type, name: id, value: uid });
  input.addEventListener("change", () => choose(uid, input.checked));
  const title = el("span", { class: "source-quote" }, heading || t("Untitled"));
  return el("label", { class: "reference" }, input, el("span", { class: "label-id" }, name), title);
}

const WIDGETS = {
  choice: drawChoice,
  confidence: drawConfidence,
  messages: drawSources,
  references: drawReferences,
};
