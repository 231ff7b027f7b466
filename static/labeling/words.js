// Words of a text for a label: selected with the mouse, or with the arrows once a key asked for it.

import { Caret } from "./caret.js";
import { byId } from "./dom.js";
import { wordsWithin } from "./layers.js";
import { selectedIn } from "./spans.js";
import { t } from "./texts.js";

/** @import { Hand, Span, Speaker } from "./types.d.ts" */

const TEXTS = { message: ".message-text", field: ".field-text" };

export class Words {
  /**
   * `start(values)` begins a label with the words.
   *
   * @param {{
   *   view: Hand,
   *   messages: import("./messages.js").MessageList,
   *   status: Speaker,
   *   start: (values: Record<string, Span>) => void,
   *   signal?: AbortSignal,
   * }} parts
   */
  constructor({ view, messages, status, start, signal }) {
    this.view = view;
    this.messages = messages;
    this.status = status;
    this.start = start;
    this.put = null; // who asked for words, while the caret is on
    this.caret = new Caret({
      take: (span, element) => this.take(span, element),
      say: (text) => status.say(text),
      signal,
    });
    this.button = byId("take-words");
    if (view.readOnly) return;
    document.addEventListener("selectionchange", () => this.offer(), { signal });
    this.button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
    this.button.addEventListener("click", () => this.takeSelected());
  }

  get within() {
    return wordsWithin(this.view.layer);
  }

  mark() {
    if (!this.within) return this.status.say(t("{title} hold no words of the text.", { title: this.view.layer.title }));
    this.put = null;
    return this.takeSelected() || this.select(this.within);
  }

  // A form's own place asks for words: those selected already, or those to be selected now.
  ask(within, put) {
    this.put = put;
    return this.takeSelected(within) || this.select(within);
  }

  select(within) {
    const { messages, status } = this;
    const { form, openUid } = this.view;
    if (within === "message") {
      messages.move(0, { focus: false });
      return this.caret.start(messages.textOf(messages.currentIndex));
    }
    const text = openUid && form?.wordsWidget("field")?.text;
    if (text?.textContent) return this.caret.start(text);
    return status.say(t("Choose the requirement and its field first: its text is then shown here."));
  }

  takeSelected(within = this.within) {
    const selected = within && selectedIn(TEXTS[within]);
    if (!selected) return false;
    getSelection()?.removeAllRanges();
    this.take(selected.span, selected.element);
    return true;
  }

  take(span, element) {
    this.button.hidden = true;
    const index = element.closest(".message")?.dataset.index;
    const words = index === undefined ? span : { message: Number(index), ...span };
    const put = this.put ?? this.view.form?.wordsWidget(index === undefined ? "field" : "message")?.put;
    this.put = null;
    if (put) put(words);
    else this.startWith(words);
    this.status.say(t("Taken: {text}", { text: span.text }));
  }

  startWith(words) {
    const field = this.view.layer.fields.find(({ widget, within }) => widget === "span" && within === "message");
    if (field) this.start({ [field.name]: words });
  }

  // Next to what the mouse has selected is a button that takes it.
  offer() {
    const selected = this.within && !this.caret.isOn && selectedIn(TEXTS[this.within]);
    this.button.hidden = !selected;
    if (!selected) return;
    const box = selected.range.getBoundingClientRect();
    this.button.style.left = `${Math.max(8, Math.min(box.right, innerWidth - 170))}px`;
    this.button.style.top = `${Math.min(box.bottom + 4, innerHeight - 48)}px`;
  }
}
