// The conversation: where the reader is, which messages are linked, and which labels cite them.

import { all, el, setAttribute, setText } from "./dom.js";
import { rangeOf } from "./spans.js";

/** @import { MessageHandlers } from "./types.d.ts" */

const VOICES = 6;

// One text node, also where a message is empty: places in a message are places in it.
function textNode(element) {
  if (!element.firstChild) element.append(document.createTextNode(""));
  return element.firstChild;
}

// The chips that are there already are kept.
function drawChips(place, labels) {
  const names = new Map(labels);
  for (const chip of Array.from(place.children)) if (!names.has(chip.dataset.uid)) chip.remove();
  const chips = new Map([...place.children].map((chip) => [chip.dataset.uid, chip]));
  for (const [at, [uid, name]] of labels.entries()) {
    const chip = chips.get(uid) ?? el("button", { type: "button", class: "label-chip", data: { uid } });
    setText(chip, name);
    if (place.children[at] !== chip) place.insertBefore(chip, place.children[at]);
  }
}

export class MessageList {
  /** @param {{ root: HTMLElement, readOnly: boolean, handlers: MessageHandlers, signal?: AbortSignal }} parts */
  constructor({ root, readOnly, handlers, signal }) {
    this.root = root;
    this.items = all(".message", root);
    this.texts = this.items.map((item) => textNode(item.querySelector(".message-text")));
    this.drawn = new Map(); // message -> what its labels look like
    signal?.addEventListener("abort", () => CSS.highlights?.clear());
    this.related = new Set();
    this.currentIndex = 0;
    this.readOnly = readOnly;
    this.handlers = handlers;
    this.colorVoices();
    this.listen();
    this.setCurrent(0);
  }

  // One color per speaker; the two usual roles have the same one in every conversation.
  colorVoices() {
    const voices = [...new Set(["user", "analyst", ...this.items.map((item) => item.dataset.who)])];
    for (const item of this.items) item.dataset.voice = String(voices.indexOf(item.dataset.who) % VOICES);
  }

  // One set of listeners, however many messages there are.
  listen() {
    const on = (type, act) =>
      this.root.addEventListener(type, (event) => {
        const index = this.indexOf(event.target);
        if (index !== null) act(index, event);
      });
    const enter = (index, { relatedTarget }) => {
      if (this.indexOf(relatedTarget) !== index) this.handlers.point(index);
    };
    const leave = (index, { relatedTarget }) => {
      if (this.indexOf(relatedTarget) === null) this.handlers.point(null);
    };
    for (const type of ["mouseover", "focusin"]) on(type, enter);
    for (const type of ["mouseout", "focusout"]) on(type, leave);
    on("focusin", (index) => this.setCurrent(index));
    on("click", (index, { target }) => {
      this.setCurrent(index);
      const chip = target.closest(".label-chip");
      if (chip) this.handlers.openLabel(chip.dataset.uid);
      else if (target.closest(".message-link")) this.handlers.link(index);
    });
  }

  indexOf(target) {
    const item = target?.closest?.(".message");
    return item && this.root.contains(item) ? Number(item.dataset.index) : null;
  }

  setCurrent(index) {
    const before = this.items[this.currentIndex];
    const item = this.items[index];
    this.currentIndex = index;
    if (before !== item) {
      before?.removeAttribute("aria-current");
      before?.setAttribute("tabindex", "-1");
    }
    if (!item) return;
    setAttribute(item, "aria-current", true);
    setAttribute(item, "tabindex", 0);
  }

  // While typing the reader moves on, but the focus stays in the field.
  move(step, { focus }) {
    const index = Math.min(this.items.length - 1, Math.max(0, this.currentIndex + step));
    this.setCurrent(index);
    if (focus) this.items[index].focus({ preventScroll: true });
    this.items[index].scrollIntoView({ block: "nearest" });
  }

  /**
   * `citing` has the labels that cite a message, by its place. Only what differs from what is drawn
   * is touched: conversations may have hundreds of messages.
   *
   * @param {{ citing: Map<number, string[]>, nameOf: (uid: string) => string, linked: Set<number> }} shown
   */
  render({ citing, nameOf, linked }) {
    for (const index of new Set([...this.drawn.keys(), ...citing.keys(), ...linked])) {
      if (!this.items[index]) continue;
      const labels = (citing.get(index) ?? []).map((uid) => [uid, nameOf(uid)]);
      const drawn = labels.length || linked.has(index) ? `${linked.has(index)} ${labels.join()}` : undefined;
      if (this.drawn.get(index) === drawn) continue;
      if (drawn) this.drawn.set(index, drawn);
      else this.drawn.delete(index);
      this.draw(this.items[index], labels, linked.has(index));
    }
  }

  draw(item, labels, isLinked) {
    item.classList.toggle("linked", isLinked);
    item.classList.toggle("cited", labels.length > 0);
    if (!this.readOnly) setAttribute(item.querySelector(".message-link"), "aria-pressed", isLinked);
    drawChips(item.querySelector(".message-labels"), labels);
  }

  highlight(indices) {
    for (const index of this.related) {
      if (!indices.has(index)) this.items[index]?.classList.remove("related");
    }
    for (const index of indices) this.items[index]?.classList.add("related");
    this.related = indices;
  }

  goTo(index) {
    this.move(index - this.currentIndex, { focus: true });
  }

  textOf(index) {
    return this.texts[index]?.parentElement;
  }

  // Words that labels cite are painted over the text: every one, and those of the label in hand.
  paint(name, spans) {
    const placed = spans.filter((span) => this.texts[span.message]);
    const ranges = placed.map((span) => rangeOf(this.texts[span.message], span));
    CSS.highlights?.set(name, new Highlight(...ranges)); // a browser without them shows the text as it is
  }

  quote(index) {
    return this.texts[index]?.data ?? "";
  }
}
