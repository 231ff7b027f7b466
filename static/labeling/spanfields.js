// Controls that hold words of a text: a span of a message or of another label's field, and the
// arguments of an event. A widget that takes words has `slot()`: where the next words go.

import { all, el, focused } from "./dom.js";
import { fieldText } from "./layers.js";
import { drawGroup, drawHelp, smallButton, tinyButton } from "./rows.js";
import { t } from "./texts.js";

// The key that takes words on this page, as its own button shows it.
const wordsKey = () => document.querySelector("kbd[data-key=words]")?.textContent ?? "";

// One place for words: shows them, and asks for them.
function drawSlot({ name, describedBy, onAsk, onClear }) {
  const ask = smallButton("", onAsk, { class: "button small quiet span-slot", "aria-describedby": describedBy });
  const clear = tinyButton("×", t("Take the words out: {name}", { name }), () => {
    onClear();
    ask.focus();
  });
  const show = (span) => {
    const at = span?.message === undefined ? [] : [el("span", { class: "index" }, span.message)];
    const words = span ? `“${span.text}”` : t("Select words");
    ask.replaceChildren(...at, el("span", {}, words), ...(span ? [] : [el("kbd", { "aria-hidden": "true" }, wordsKey())]));
    ask.setAttribute("aria-label", span ? t("{name}: {text}. Select other words", { name, text: span.text }) : t("{name}: select words", { name }));
    ask.classList.toggle("empty", !span);
    clear.hidden = !span;
  };
  return { root: el("span", { class: "span-row" }, ask, clear), ask, show };
}

export function drawSpan(field, id, handlers) {
  return field.within === "field" ? drawFieldSpan(field, id, handlers) : drawMessageSpan(field, id, handlers);
}

function drawMessageSpan(field, id, { onEdit, onEnd, askWords }) {
  const put = (span) => {
    onEdit(span);
    onEnd();
  };
  const slot = drawSlot({
    name: field.label,
    describedBy: `${id}-help ${id}-error`,
    onAsk: () => askWords("message", put),
    onClear: () => put(null),
  });
  const help = drawHelp(field, id);
  const root = drawGroup(field, id, [slot.root, help]);
  let value;
  const write = (span) => {
    value = span;
    slot.show(span);
    help.classList.toggle("visually-hidden", Boolean(span));
  };
  return { root, control: root, focus: () => slot.ask.focus(), write, isFilled: () => Boolean(value), put, within: "message" };
}

// The text of the field is shown in the form, and the words are selected there.
function drawFieldSpan(field, id, { onEdit, onEnd, askWords, labelOf, referenceField }) {
  const text = el("p", { class: "field-text" });
  const help = drawHelp(field, id);
  const put = ({ start, end, text: words }) => {
    onEdit({ start, end, text: words });
    onEnd();
  };
  const clear = () => {
    onEdit(null);
    onEnd();
  };
  const slot = drawSlot({
    name: field.label,
    describedBy: `${id}-help ${id}-error`,
    onAsk: () => askWords("field", put),
    onClear: clear,
  });
  const root = drawGroup(field, id, [text, slot.root, help]);
  let value;
  const write = (span, label) => {
    value = span;
    const source = fieldText(labelOf(label[referenceField]), label.field);
    if (text.textContent !== source) text.textContent = source;
    text.hidden = !source;
    slot.show(span);
    slot.ask.disabled = !source;
    help.classList.toggle("visually-hidden", Boolean(span));
  };
  return { root, control: root, focus: () => slot.ask.focus(), write, isFilled: () => Boolean(value), put, text, within: "field" };
}

// Arguments: rows of a role and its words. The event's type decides which roles there are.
export function drawArguments(field, id, { onEdit, onEnd, askWords }) {
  const list = el("ol", { class: "rows" });
  const help = drawHelp(field, id);
  let rows = [];
  let drawn = "";
  let roles = [];
  const change = (changed) => {
    onEdit(changed);
    onEnd();
  };
  const set = (at, values) => change(rows.map((row, i) => (i === at ? { ...row, ...values } : row)));
  const add = (span) => change([...rows, { role: nextRole(), span }]);
  const nextRole = () => roles.find((role) => !rows.some((row) => row.role === role)) ?? roles[0] ?? "";
  const adder = smallButton(t("Add argument"), () => askWords("message", add));
  const root = drawGroup(field, id, [list, adder, help]);

  const draw = () => {
    const place = all("button, input, select", list).indexOf(focused());
    list.replaceChildren(...rows.map((row, at) => drawArgument(row, at)));
    if (place >= 0) (all("button, input, select", list)[place] ?? adder).focus();
  };
  const drawArgument = (row, at) => {
    const role = drawRole({ id: `${id}-${at}`, number: at + 1, value: row.role, roles });
    role.addEventListener("change", () => set(at, { role: role.value }));
    const slot = drawSlot({
      name: t("Words of argument {at}", { at: at + 1 }),
      describedBy: `${id}-help ${id}-error`,
      onAsk: () => askWords("message", (span) => set(at, { span })),
      onClear: () => set(at, { span: null }),
    });
    slot.show(row.span);
    const remove = tinyButton("×", t("Remove argument {at}", { at: at + 1 }), () => {
      change(rows.filter((_, i) => i !== at));
      adder.focus();
    });
    return el("li", { class: "argument" }, role, slot.root, remove);
  };
  const write = (value, label) => {
    rows = value ?? [];
    roles = field.roles[label.type] ?? [];
    const now = JSON.stringify([rows, roles]);
    if (now !== drawn) draw();
    drawn = now;
    help.classList.toggle("visually-hidden", rows.length > 0);
  };
  return { root, control: root, focus: () => adder.focus(), write, isFilled: () => false, put: add, within: "message" };
}

// A role that the event's type does not know stays visible, so that it can be corrected.
function drawRole({ id, number, value, roles }) {
  const props = { id, class: "role", "aria-label": t("Role of argument {number}", { number }) };
  if (!roles.length) return el("input", { ...props, type: "text", value, placeholder: t("Role") });
  const offers = roles.includes(value) || !value ? roles : [value, ...roles];
  const options = offers.map((role) => el("option", { value: role, selected: role === value }, role));
  return el("select", props, ...options);
}
