// The labels of one layer. The open one holds its form; a change touches only the cards it concerns.

import { el, setAttribute, setText } from "./dom.js";
import { drawDetails } from "./details.js";
import { LabelForm } from "./form.js";
import { citedMessages } from "./layers.js";
import { isBlank, isOpen, tinyButton } from "./rows.js";
import { t } from "./texts.js";
import { wordsOf } from "./widgets.js";

/** @import { LabelHandlers } from "./types.d.ts" */

const ORIGINS = { accepted: t("accepted"), edited: t("edited") };

export class LabelList {
  /**
   * @param {{
   *   root: HTMLElement,
   *   store: import("./store.js").Store,
   *   readOnly: boolean,
   *   handlers: LabelHandlers,
   * }} parts
   */
  constructor({ root, store, readOnly, handlers }) {
    this.root = root;
    this.store = store;
    this.readOnly = readOnly;
    this.handlers = handlers;
    this.cards = new Map();
    this.related = new Set();
    this.form = null;
    this.openUid = null;
  }

  render({ layer, openUid, currentUid, problems, hints }) {
    const labels = this.store.inLayer(layer);
    this.layer = layer;
    this.removeMissing(labels);
    const cards = labels.map((label) => this.cards.get(label.uid) ?? this.addCard(label));
    for (const [at, card] of cards.entries()) {
      if (this.root.children[at] !== card.root) this.root.insertBefore(card.root, this.root.children[at]);
    }
    this.openCard(labels.find((label) => label.uid === openUid));
    for (const label of labels) this.fill(label, problems.of(label.uid) ?? {});
    this.form?.showHints(hints.of(openUid));
    this.setCurrent(currentUid);
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
    const id = el("span", { class: "label-id" });
    const name = el("span", { class: "label-title" });
    const meta = el("span", { class: "label-meta" });
    const head = el("button", { type: "button", class: "label-head", "aria-expanded": "false" }, id, name, meta);
    head.addEventListener("click", () =>
      this.openUid === label.uid ? handlers.close() : handlers.open(label.uid),
    );
    const remove = tinyButton("×", t("Delete"), () => handlers.remove(label.uid));
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
    const card = { root, head, id, name, meta, remove, body };
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
    if (!this.readOnly) {
      this.form = new LabelForm(this.layer, label, this.store.name(uid), this.handlers.form);
    }
    card.body.append(this.form?.root ?? drawDetails(this.layer.fields, label, this.store));
    card.head.setAttribute("aria-expanded", "true");
    card.root.classList.add("open");
  }

  // The next label of the layer, after this one, that lacks a field; the order is a circle.
  unfinishedAfter(uid) {
    const labels = this.store.inLayer(this.layer);
    const at = labels.findIndex((label) => label.uid === uid);
    const order = labels.map((_, n) => labels[(at + 1 + n) % labels.length]);
    return order.find((label) => this.openFieldOf(label));
  }

  openFieldOf(label) {
    return this.layer.fields.find((field) => isOpen(field, label[field.name]))?.name;
  }

  // Labels are replaced when they change, so the same label with the same name is drawn already.
  fill(label, problems) {
    const card = this.cards.get(label.uid);
    const name = this.store.name(label.uid);
    const heading = this.store.heading(label.uid);
    const drawn = [label, name, heading, Object.keys(problems).length];
    if (!card.drawn?.every((value, at) => value === drawn[at])) this.draw(card, label, drawn, problems);
    if (label.uid !== this.openUid || !this.form) return;
    this.form.show(label);
    this.form.showProblems(problems);
  }

  draw(card, label, drawn, problems) {
    const [, name, heading, wrong] = drawn;
    card.drawn = drawn;
    setText(card.id, name);
    card.name.textContent = heading || t("Untitled");
    card.name.classList.toggle("untitled", !heading);
    setAttribute(card.remove, "aria-label", t("Delete {name}", { name }));
    card.meta.replaceChildren(...this.badges(label, problems));
    card.root.classList.toggle("wrong", wrong > 0);
  }

  badges(label, problems) {
    const { fields, badges } = this.layer;
    const open = fields.filter((field) => isOpen(field, label[field.name])).length;
    const wrong = Object.keys(problems).length;
    const cited = [...citedMessages(this.layer, label)].sort((a, b) => a - b);
    const sources = cited.map((index) => el("span", { class: "index" }, index));
    const values = badges.filter((name) => !isBlank(label[name]));
    return [
      label.suggestion ? el("span", { class: "badge info" }, t("suggested, {origin}", { origin: ORIGINS[label.origin] ?? label.origin })) : null,
      ...values.map((name) => el("span", { class: "badge" }, wordOf(fields, name, label[name]))),
      sources.length ? el("span", { class: "label-sources" }, ...sources) : null,
      wrong ? el("span", { class: "badge bad" }, t("{wrong} to correct", { wrong })) : null,
      open && !wrong ? el("span", { class: "badge warn" }, t("{open} open", { open })) : null,
    ].filter(Boolean);
  }

  // A class that is written is laid out again, also where it was there before.
  setCurrent(uid) {
    const root = this.cards.get(uid)?.root;
    if (this.currentRoot === root) return;
    this.currentRoot?.classList.remove("current");
    root?.classList.add("current");
    this.currentRoot = root;
  }

  highlight(uids) {
    for (const uid of this.related) {
      if (!uids.has(uid)) this.cards.get(uid)?.root.classList.remove("related");
    }
    for (const uid of uids) this.cards.get(uid)?.root.classList.add("related");
    this.related = uids;
  }

  // The form may be taller than its room: then what counts is that the head is seen. Each scroll
  // lays out what comes into sight, so there is one at most.
  reveal(uid) {
    const card = this.cards.get(uid);
    if (!card) return;
    const room = Math.min(innerHeight, this.root.closest(".labels-scroll")?.clientHeight ?? innerHeight);
    const block = card.root.offsetHeight > room ? "start" : "nearest";
    card.root.scrollIntoView({ block });
  }

  focusHead(uid, options) {
    this.cards.get(uid)?.head.focus(options);
  }
}

export function wordOf(fields, name, value) {
  const choices = fields.find((field) => field.name === name)?.choices ?? [];
  return wordsOf(choices.find((choice) => choice.value === value) ?? { value });
}
