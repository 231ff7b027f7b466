// The form of the open label, drawn from the fields of the label schema.

import { el } from "./dom.js";
import { drawWidget, isOpen } from "./widgets.js";

export class LabelForm {
  // handlers: edit(field, value), endEdit(), unlink(index), quote(index)
  constructor(fields, label, handlers) {
    this.fields = fields;
    this.left = new Set(); // fields that were left once: only these say that they are open
    this.widgets = new Map(fields.map((field) => [field.name, this.draw(field, label, handlers)]));
    const widgets = [...this.widgets.values()].map((widget) => widget.root);
    this.root = el("div", { class: "label-form", role: "group", "aria-label": label.id }, ...widgets);
    this.problems = {};
    this.show(label);
  }

  draw(field, label, { edit, endEdit, unlink, quote }) {
    return drawWidget(field, `${field.name}-${label.uid}`, {
      onEdit: (value) => edit(field.name, value),
      onEnd: () => {
        this.left.add(field.name);
        endEdit();
        this.mark();
      },
      onUnlink: unlink,
      quote,
    });
  }

  show(label) {
    this.label = label;
    for (const [name, widget] of this.widgets) widget.write(label[name]);
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
      this.say(field, problem ?? (isLeftOpen ? "Still open." : ""), Boolean(problem));
    }
  }

  say(field, text, isWrong) {
    const { root, control } = this.widgets.get(field.name);
    const line = root.querySelector(".error");
    line.textContent = text;
    line.classList.toggle("soft", !isWrong);
    if (isWrong && control.matches("input, textarea")) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
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
}
