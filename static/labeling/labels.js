// The list of labels. The open one holds its form; a change touches only the cards it concerns.

import { el } from "./dom.js";
import { drawDetails } from "./details.js";
import { LabelForm } from "./form.js";
import { isOpen } from "./widgets.js";

export class LabelList {
  // handlers: open(uid), close(), remove(uid), point(uid|null), current(uid), form: see LabelForm
  constructor({ root, fields, readOnly, handlers }) {
    Object.assign(this, { root, fields, readOnly, handlers });
    this.cards = new Map();
    this.form = null;
    this.openUid = null;
  }

  render({ labels, openUid, currentUid, problems }) {
    this.removeMissing(labels);
    const cards = labels.map((label) => this.cards.get(label.uid) ?? this.addCard(label));
    for (const [at, card] of cards.entries()) {
      if (this.root.children[at] !== card.root) this.root.insertBefore(card.root, this.root.children[at]);
    }
    this.openCard(labels.find((label) => label.uid === openUid));
    for (const label of labels) this.fill(label, { currentUid, problems: problems[label.uid] ?? {} });
  }

  removeMissing(labels) {
    const present = new Set(labels.map((label) => label.uid));
    for (const [uid, card] of this.cards) {
      if (present.has(uid)) continue;
      card.root.remove();
      this.cards.delete(uid);
      if (uid === this.openUid) this.openUid = this.form = null;
    }
  }

  addCard(label) {
    const { handlers } = this;
    const name = el("span", { class: "label-title" });
    const meta = el("span", { class: "label-meta" });
    const head = el(
      "button",
      { type: "button", class: "label-head", "aria-expanded": "false" },
      el("span", { class: "label-id" }, label.id),
      name,
      meta,
    );
    head.addEventListener("click", () =>
      this.openUid === label.uid ? handlers.close() : handlers.open(label.uid),
    );
    const remove = el("button", { type: "button", class: "icon-button tiny" }, "×");
    remove.addEventListener("click", () => handlers.remove(label.uid));
    const body = el("div", { class: "label-body" });
    const top = el("div", { class: "label-top" }, head, this.readOnly ? null : remove);
    const root = el("li", { class: "label-card", data: { uid: label.uid } }, top, body);
    for (const type of ["mouseenter", "focusin"]) {
      root.addEventListener(type, () => handlers.point(label.uid));
    }
    for (const type of ["mouseleave", "focusout"]) {
      root.addEventListener(type, () => handlers.point(null));
    }
    root.addEventListener("focusin", () => handlers.current(label.uid));
    const card = { root, head, name, meta, remove, body };
    this.cards.set(label.uid, card);
    return card;
  }

  openCard(label) {
    const uid = label?.uid ?? null;
    if (uid === this.openUid) return;
    const before = this.cards.get(this.openUid);
    before?.body.replaceChildren();
    before?.head.setAttribute("aria-expanded", "false");
    before?.root.classList.remove("open");
    this.openUid = uid;
    this.form = null;
    if (!uid) return;
    const card = this.cards.get(uid);
    if (!this.readOnly) this.form = new LabelForm(this.fields, label, this.handlers.form);
    card.body.append(this.form?.root ?? drawDetails(this.fields, label));
    card.head.setAttribute("aria-expanded", "true");
    card.root.classList.add("open");
  }

  fill(label, { currentUid, problems }) {
    const card = this.cards.get(label.uid);
    card.name.textContent = label.title || "Untitled";
    card.name.classList.toggle("untitled", !label.title);
    card.remove.setAttribute("aria-label", `Delete ${label.id}`);
    card.meta.replaceChildren(...this.badges(label, problems));
    card.root.classList.toggle("current", label.uid === currentUid);
    card.root.classList.toggle("wrong", Object.keys(problems).length > 0);
    if (label.uid !== this.openUid || !this.form) return;
    this.form.show(label);
    this.form.showProblems(problems);
  }

  badges(label, problems) {
    const open = this.fields.filter((field) => isOpen(field, label[field.name])).length;
    const wrong = Object.keys(problems).length;
    const sources = (label.source_messages ?? []).map((index) => el("span", { class: "index" }, index));
    return [
      label.type && el("span", { class: "badge" }, label.type),
      label.priority && el("span", { class: "badge" }, label.priority),
      sources.length ? el("span", { class: "label-sources" }, ...sources) : null,
      wrong ? el("span", { class: "badge bad" }, `${wrong} to correct`) : null,
      open && !wrong ? el("span", { class: "badge warn" }, `${open} open`) : null,
    ].filter(Boolean);
  }

  highlight(uids) {
    for (const [uid, card] of this.cards) card.root.classList.toggle("related", uids.has(uid));
  }

  reveal(uid) {
    this.cards.get(uid)?.root.scrollIntoView({ block: "nearest" });
  }

  focusHead(uid) {
    this.cards.get(uid)?.head.focus();
  }
}
