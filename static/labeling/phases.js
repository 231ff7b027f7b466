// The phases of a narrative: ordered, each with its own fields and evidence. Messages are linked
// to the phase that was worked on last.

import { el, focused, newUid } from "./dom.js";
import { fieldOf, toggled } from "./layers.js";
import { drawGroup, drawHelp, smallButton, tinyButton } from "./rows.js";
import { t } from "./texts.js";
import { drawWidget } from "./widgets.js";

/** @import { Field, WidgetHandlers } from "./types.d.ts" */

export function drawPhases(field, id, handlers) {
  return new Phases(field, id, handlers).widget();
}

class Phases {
  /**
   * @param {Field} field
   * @param {string} id
   * @param {WidgetHandlers} handlers
   */
  constructor(field, id, handlers) {
    this.field = field;
    this.id = id;
    this.handlers = handlers;
    this.phases = [];
    this.rows = new Map();
    this.activeUid = null;
    this.evidence = fieldOf(field, "messages")?.name ?? "";
    this.list = el("div", { class: "rows" });
    this.help = drawHelp(field, id);
    this.adder = smallButton(t("Add phase"), () => this.add());
    this.root = drawGroup(field, id, [this.list, this.adder, this.help]);
  }

  widget() {
    return {
      root: this.root,
      control: this.root,
      focus: () => (this.rows.get(this.active?.uid)?.focus ?? (() => this.adder.focus()))(),
      write: (phases) => this.write(phases ?? []),
      toggle: (index) => this.toggle(index),
      linked: () => this.active?.[this.evidence] ?? [],
    };
  }

  get active() {
    return this.phases.find(({ uid }) => uid === this.activeUid) ?? this.phases.at(-1);
  }

  write(phases) {
    this.phases = phases;
    for (const [uid, row] of this.rows) {
      if (phases.some((phase) => phase.uid === uid)) continue;
      row.root.remove();
      this.rows.delete(uid);
    }
    for (const [at, phase] of phases.entries()) this.show(phase, at);
    this.help.classList.toggle("visually-hidden", phases.length > 0);
    this.mark();
  }

  show(phase, at) {
    const row = this.rows.get(phase.uid) ?? this.draw(phase.uid);
    if (this.list.children[at] !== row.root) this.list.insertBefore(row.root, this.list.children[at]);
    row.number.textContent = t("Phase {at}", { at: at + 1 });
    row.root.setAttribute("aria-label", t("Phase {at}", { at: at + 1 }));
    for (const [name, widget] of row.widgets) widget.write(phase[name] ?? undefined);
  }

  draw(uid) {
    const { onEnd, quote } = this.handlers;
    const widgets = new Map(
      this.field.fields.map((field) => {
        const onEdit = (value) => this.set(uid, { [field.name]: value });
        const onUnlink = (index) => this.activate(uid) ?? this.toggle(index);
        return [field.name, drawWidget(field, `${this.id}-${field.name}-${uid}`, { onEdit, onEnd, onUnlink, quote })];
      }),
    );
    const number = el("strong", {});
    const tools = el(
      "div",
      { class: "row spread" },
      number,
      el(
        "span",
        { class: "row-tools" },
        tinyButton("↑", t("Move this phase up"), () => this.move(uid, -1)),
        tinyButton("↓", t("Move this phase down"), () => this.move(uid, 1)),
        tinyButton("×", t("Remove this phase"), () => this.remove(uid)),
      ),
    );
    const fields = [...widgets.values()].map((widget) => widget.root);
    const root = el("div", { class: "phase", role: "group" }, tools, ...fields);
    root.addEventListener("focusin", () => this.activate(uid));
    const row = { root, number, widgets, focus: () => widgets.values().next().value.focus() };
    this.rows.set(uid, row);
    return row;
  }

  activate(uid) {
    if (this.activeUid === uid) return;
    this.activeUid = uid;
    this.mark();
    this.handlers.onTarget();
  }

  mark() {
    for (const [uid, row] of this.rows) row.root.classList.toggle("active", uid === this.active?.uid);
  }

  set(uid, values) {
    this.handlers.onEdit(this.phases.map((phase) => (phase.uid === uid ? { ...phase, ...values } : phase)));
  }

  change(phases) {
    this.handlers.onEnd();
    this.handlers.onEdit(phases);
    this.handlers.onEnd();
  }

  add() {
    const phase = { uid: newUid(), [this.evidence]: [] };
    this.activeUid = phase.uid;
    this.change([...this.phases, phase]);
    this.rows.get(phase.uid).focus();
  }

  move(uid, by) {
    const at = this.phases.findIndex((phase) => phase.uid === uid);
    const other = this.phases[at + by];
    if (!other) return;
    const pressed = focused();
    this.change(this.phases.with(at, other).with(at + by, this.phases[at]));
    pressed.focus();
  }

  remove(uid) {
    this.change(this.phases.filter((phase) => phase.uid !== uid));
    this.adder.focus();
  }

  // A message is linked to the active phase; the first one begins a phase.
  toggle(index) {
    if (!this.active) return this.change([{ uid: newUid(), [this.evidence]: [index] }]) ?? true;
    const { uid } = this.active;
    const linked = toggled(this.active[this.evidence], index);
    this.change(this.phases.map((phase) => (phase.uid === uid ? { ...phase, [this.evidence]: linked } : phase)));
    return linked.includes(index);
  }
}
