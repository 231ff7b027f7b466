// The conversation: where the reader is, which messages are linked, and which labels cite them.

import { el } from "./dom.js";

const VOICES = 6;

export class MessageList {
  // handlers: link(index), point(index|null), openLabel(uid)
  constructor({ root, readOnly, handlers }) {
    this.root = root;
    this.items = [...root.querySelectorAll(".message")];
    this.currentIndex = 0;
    this.readOnly = readOnly;
    this.handlers = handlers;
    this.colourVoices();
    for (const [index, item] of this.items.entries()) this.listen(item, index);
    this.setCurrent(0);
  }

  // One colour per speaker; the two usual roles have the same one in every conversation.
  colourVoices() {
    const voices = [...new Set(["user", "analyst", ...this.items.map((item) => item.dataset.who)])];
    for (const item of this.items) item.dataset.voice = voices.indexOf(item.dataset.who) % VOICES;
  }

  listen(item, index) {
    for (const type of ["mouseenter", "focusin"]) {
      item.addEventListener(type, () => this.handlers.point(index));
    }
    for (const type of ["mouseleave", "focusout"]) {
      item.addEventListener(type, () => this.handlers.point(null));
    }
    item.addEventListener("focusin", () => this.setCurrent(index));
    item.addEventListener("click", (event) => {
      this.setCurrent(index);
      if (event.target.closest(".message-link")) this.handlers.link(index);
    });
  }

  setCurrent(index) {
    this.items[this.currentIndex]?.removeAttribute("aria-current");
    this.items[this.currentIndex]?.setAttribute("tabindex", "-1");
    this.currentIndex = index;
    this.items[index]?.setAttribute("aria-current", "true");
    this.items[index]?.setAttribute("tabindex", "0");
  }

  // While typing the reader moves on, but the focus stays in the field.
  move(step, { focus }) {
    const index = Math.min(this.items.length - 1, Math.max(0, this.currentIndex + step));
    this.setCurrent(index);
    if (focus) this.items[index].focus({ preventScroll: true });
    this.items[index].scrollIntoView({ block: "nearest" });
  }

  render({ labels, linked }) {
    const drawn = JSON.stringify([...linked, labels.map((label) => [label.id, label.source_messages])]);
    if (drawn === this.drawn) return; // typing into a field changes nothing here
    this.drawn = drawn;
    for (const [index, item] of this.items.entries()) {
      const citing = labels.filter((label) => label.source_messages?.includes(index));
      item.classList.toggle("linked", linked.has(index));
      item.classList.toggle("cited", citing.length > 0);
      const button = item.querySelector(".message-link");
      if (!this.readOnly) button.setAttribute("aria-pressed", String(linked.has(index)));
      item.querySelector(".message-labels").replaceChildren(...citing.map((label) => this.chip(label)));
    }
  }

  chip(label) {
    const chip = el("button", { type: "button", class: "label-chip", data: { uid: label.uid } }, label.id);
    chip.addEventListener("click", () => this.handlers.openLabel(label.uid));
    return chip;
  }

  highlight(indices) {
    for (const [index, item] of this.items.entries()) {
      item.classList.toggle("related", indices.has(index));
    }
  }

  quote(index) {
    return this.items[index]?.querySelector(".message-text").textContent ?? "";
  }
}
