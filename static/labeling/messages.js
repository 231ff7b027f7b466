// The conversation: where the reader is, which messages are linked, and which labels cite them.

import { el } from "./dom.js";
import { rangeOf } from "./spans.js";

const VOICES = 6;

// One text node, also where a message is empty: places in a message are places in it.
function textNode(element) {
  if (!element.firstChild) element.append(document.createTextNode(""));
  return element.firstChild;
}

export class MessageList {
  // handlers: link(index), point(index|null), openLabel(uid)
  constructor({ root, readOnly, handlers }) {
    this.root = root;
    this.items = [...root.querySelectorAll(".message")];
    this.texts = this.items.map((item) => textNode(item.querySelector(".message-text")));
    this.drawn = [];
    this.related = new Set();
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

  // `citing` has the names of the labels that cite a message, by its place: [[{uid, name}, …], …].
  // Only what differs from what is drawn is touched: conversations may have hundreds of messages.
  render({ citing, linked }) {
    for (const [index, item] of this.items.entries()) {
      const labels = citing.get(index) ?? [];
      const drawn = `${linked.has(index)} ${labels.map(({ uid, name }) => uid + name).join()}`;
      if (this.drawn[index] === drawn) continue;
      this.drawn[index] = drawn;
      item.classList.toggle("linked", linked.has(index));
      item.classList.toggle("cited", labels.length > 0);
      const button = item.querySelector(".message-link");
      if (!this.readOnly) button.setAttribute("aria-pressed", String(linked.has(index)));
      item.querySelector(".message-labels").replaceChildren(...labels.map((label) => this.chip(label)));
    }
  }

  chip(label) {
    const chip = el("button", { type: "button", class: "label-chip", data: { uid: label.uid } }, label.name);
    chip.addEventListener("click", () => this.handlers.openLabel(label.uid));
    return chip;
  }

  highlight(indices) {
    for (const index of this.related) this.items[index]?.classList.remove("related");
    for (const index of indices) this.items[index]?.classList.add("related");
    this.related = indices;
  }

  // The reader is led to a message; the focus stays where it is.
  show(index) {
    this.move(index - this.currentIndex, { focus: false });
  }

  textOf(index) {
    return this.texts[index]?.parentElement;
  }

  // Words that labels cite are painted over the text: every one, and those of the label in hand.
  paint(name, spans) {
    if (!CSS.highlights) return;
    const found = spans.filter((span) => this.texts[span.message]);
    if (!found.length && !CSS.highlights.get(name)?.size) return; // nothing to repaint
    const ranges = found.map((span) => rangeOf(this.texts[span.message], span));
    CSS.highlights.set(name, new Highlight(...ranges));
  }

  quote(index) {
    return this.texts[index]?.data ?? "";
  }
}
