// The form of the open label, drawn from the fields of its layer.

import { el, setText } from "./dom.js";
import { takesDigits } from "./layers.js";
import { drawPhases } from "./phases.js";
import { isOpen } from "./rows.js";
import { drawArguments, drawSpan } from "./spanfields.js";
import { t } from "./texts.js";
import { drawWidget } from "./widgets.js";

/** @import { FormHandlers, Label, Layer } from "./types.d.ts" */

const HINTED = new Set(["text", "textarea", "lines", "confidence"]);
const OWN = { phases: drawPhases, span: drawSpan, arguments: drawArguments };

export class LabelForm {
  /**
   * @param {Layer} layer
   * @param {Label} label
   * @param {string} name
   * @param {FormHandlers} handlers
   */
  constructor(layer, label, name, handlers) {
    this.layer = layer;
    this.fields = layer.fields;
    this.handlers = handlers;
    this.left = new Set(); // fields that were left once: only these say that they are open
    this.notes = new Map(); // where hints are shown, by field
    this.widgets = new Map(this.fields.map((field) => [field.name, this.draw(field, label)]));
    const widgets = [...this.widgets.values()].map((widget) => widget.root);
    this.root = el("div", { class: "label-form", role: "group", "aria-label": name }, ...widgets);
    this.root.addEventListener("focusin", ({ target }) => this.remember(target));
    this.problems = {};
    this.show(label);
  }

  draw(field, label) {
    const { edit, endEdit, unlink, target, hasHints, ...others } = this.handlers;
    const draw = OWN[field.widget] ?? drawWidget;
    const widget = draw(field, `${field.name}-${label.uid}`, {
      ...others,
      onEdit: (value) => edit(field.name, value),
      onEnd: () => {
        this.left.add(field.name);
        endEdit();
        this.mark();
      },
      onUnlink: unlink,
      onTarget: target,
      referenceField: this.fields.find((other) => other.widget === "references")?.name,
    });
    if (hasHints && HINTED.has(field.widget)) this.addNote(field.name, widget);
    return widget;
  }

  // Its room is always there, so that nothing moves when a hint comes or goes.
  addNote(name, widget) {
    const note = el("p", { class: "field-note", "aria-live": "polite" });
    widget.root.querySelector(".field-control").append(note);
    this.notes.set(name, note);
  }

  showHints(hints) {
    for (const [name, note] of this.notes) {
      const text = hints.get(name)?.text ?? "";
      setText(note, text);
      note.title = text;
    }
  }

  remember(target) {
    this.last = this.fields.find(({ name }) => this.widgets.get(name).root.contains(target))?.name;
  }

  show(label) {
    this.label = label;
    for (const [name, widget] of this.widgets) widget.write(label[name] ?? undefined, label);
    this.mark();
  }

  showProblems(problems) {
    this.problems = problems;
    this.mark();
  }

  mark() {
    for (const field of this.fields) {
      const problem = this.problems[field.name];
      const isLeftOpen = this.left.has(field.name) && isOpen(field, this.label[field.name]);
      this.say(field, problem ?? (isLeftOpen ? t("Still open.") : ""), Boolean(problem));
    }
  }

  say(field, text, isWrong) {
    const { control } = this.widgets.get(field.name);
    const line = this.errorOf(field);
    if (line.textContent !== text) line.textContent = text;
    line.classList.toggle("soft", !isWrong);
    if (isWrong && control.matches("input, textarea")) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }

  // A group's own line follows those of its parts.
  errorOf(field) {
    return [...this.widgets.get(field.name).root.querySelectorAll(".error")].at(-1);
  }

  focus(name = this.fields[0].name) {
    const widget = this.widgets.get(name) ?? this.widgets.get(this.fields[0].name);
    widget.focus();
    widget.root.scrollIntoView({ block: "nearest" });
  }

  // What a key may set in the given field: its choices, in order.
  choices(name) {
    return this.widgets.get(name)?.values ?? [];
  }

  // What a digit stands for: on a scale of numbers itself, of a confidence its tenths (3 is 0.3, and
  // 1 is 1.0), else a place among the choices.
  valueAt(name, digit) {
    const values = this.choices(name);
    if (values.every(Number.isInteger)) return values.find((value) => value === digit);
    if (values.every(Number.isFinite)) return values.find((value) => value === (digit === 1 ? 1 : digit / 10));
    return values[digit - 1];
  }

  hasZero(key) {
    return key === "0" && this.valueAt(this.digitField(), 0) !== undefined;
  }

  // A digit goes to the field that has the focus, or nowhere.
  digitField() {
    const field = this.fields.find((candidate) => this.widgets.get(candidate.name).root.contains(document.activeElement));
    return field && takesDigits(field) ? field.name : undefined;
  }

  // Where linked messages go: the field of messages, or the active phase.
  get links() {
    return [...this.widgets].find(([, widget]) => widget.toggle)?.[1];
  }

  // Where selected words go: what had the focus last, else what is still open, else a new argument.
  wordsWidget(within) {
    const fitting = [...this.widgets].filter(([, widget]) => widget.within === within && widget.put);
    const last = fitting.find(([name, widget]) => name === this.last && !widget.isFilled());
    const open = fitting.find(([, widget]) => !widget.isFilled());
    return (last ?? open ?? fitting[0])?.[1];
  }
}
