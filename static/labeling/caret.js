// Selecting words by keyboard: ← → move from word to word, Shift widens.

import { focused } from "./dom.js";
import { spanBetween, wordsOf } from "./spans.js";
import { t } from "./texts.js";

/** @import { Span } from "./types.d.ts" */

export class Caret {
  /**
   * `take` gets what was chosen; `say` tells what is selected.
   *
   * @param {{ take: (span: Span, element: HTMLElement) => void, say: (text: string) => void, signal?: AbortSignal }} parts
   */
  constructor({ take, say, signal }) {
    this.take = take;
    this.say = say;
    this.element = null;
    this.node = null; // the text of the element
    this.back = null; // what had the focus before
    /** @type {{ from: number, to: number }[]} */
    this.words = [];
    this.anchor = 0; // the words at both ends of what is selected
    this.focus = 0;
    window.addEventListener("keydown", (event) => this.pressed(event), { capture: true, signal });
    document.addEventListener("pointerdown", () => this.leave(), { signal });
  }

  get isOn() {
    return this.element !== null;
  }

  start(element) {
    this.leave();
    this.node = element.firstChild;
    this.words = wordsOf(this.node?.data ?? "");
    if (!this.words.length) return this.say(t("There is not text to select here."));
    this.element = element;
    this.back = focused();
    this.anchor = this.focus = 0;
    element.tabIndex = -1;
    element.classList.add("caret");
    element.focus({ preventScroll: true });
    return this.show(t("Selecting words: arrows move, Shift widens, Enter takes, Esc leaves. "));
  }

  leave() {
    if (!this.isOn) return;
    const { element } = this;
    this.element = null;
    element.classList.remove("caret");
    element.removeAttribute("tabindex");
    getSelection()?.removeAllRanges();
    if (document.activeElement === element || document.activeElement === document.body) this.back?.focus();
  }

  pressed(event) {
    if (!this.isOn || event.isComposing) return;
    const handled = this.handle(event);
    if (!handled) return;
    event.preventDefault();
    event.stopPropagation();
  }

  handle({ key, shiftKey, ctrlKey, metaKey, altKey }) {
    if (key === "Escape") this.leave();
    else if (key === "Enter" && !ctrlKey && !metaKey && !altKey) this.finish();
    else if (key === "ArrowLeft" || key === "ArrowRight") this.step(key === "ArrowLeft" ? -1 : 1, shiftKey);
    else if (key === "Home" || key === "End") this.jump(key, shiftKey);
    else return key.startsWith("Arrow") || key === "Tab";
    return true;
  }

  step(by, isWider) {
    this.to(Math.min(this.words.length - 1, Math.max(0, this.focus + by)), isWider);
  }

  jump(key, isWider) {
    this.to(key === "Home" ? 0 : this.words.length - 1, isWider);
  }

  to(word, isWider) {
    this.focus = word;
    if (!isWider) this.anchor = word;
    this.show();
  }

  place() {
    const [first, last] = [this.anchor, this.focus].sort((a, b) => a - b);
    return [this.words[first].from, this.words[last].to];
  }

  show(before = "") {
    const [from, to] = this.place();
    getSelection()?.setBaseAndExtent(this.node, from, this.node, to);
    this.say(before + this.node.data.slice(from, to));
    return undefined;
  }

  finish() {
    const span = spanBetween(this.node.data, ...this.place());
    const { element } = this;
    this.leave();
    if (span) this.take(span, element);
  }
}
