// Words of a text for a label: selected with the mouse, or with the arrows once a key asked for it.

import { Caret } from "./caret.js";
import { byId } from "./dom.js";
import { wordsWithin } from "./layers.js";
import { selectedIn } from "./spans.js";
import { t } from "./texts.js";

const TEXTS = { message: ".message-text", field: ".field-text" };

export class Words {
  constructor(page) {
    this.page = page;
    this.put = null; // who asked for words, while the caret is on
    this.caret = new Caret({
      take: (span, element) => this.take(span, element),
      say: (text) => page.status.say(text),
    });
    this.button = byId("take-words");
    if (page.readOnly) return;
    document.addEventListener("selectionchange", () => this.offer());
    this.button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the selection
    this.button.addEventListener("click", () => this.takeSelected());
  }

  get within() {
    return wordsWithin(this.page.layer);
  }

  mark() {
    if (!this.within) return this.page.status.say(t("{title} hold no words of the text.", { title: this.page.layer.title }));
    this.put = null;
    return this.takeSelected() || this.select(this.within);
  }

  // A form's own place asks for words: those selected already, or those to be selected now.
  ask(within, put) {
    this.put = put;
    return this.takeSelected(within) || this.select(within);
  }

  select(within) {
    const { messages, form, status, openUid } = this.page;
    if (within === "message") {
      messages.move(0, { focus: false });
      return this.caret.start(messages.textOf(messages.currentIndex));
    }
    const text = openUid && form.wordsWidget("field")?.text;
    if (text?.textContent) return this.caret.start(text);
    return status.say(t("Choose the requirement and its field first: its text is then shown here."));
  }

  takeSelected(within = this.within) {
    const found = within && selectedIn(TEXTS[within]);
    if (!found) return false;
    getSelection().removeAllRanges();
    this.take(found.span, found.element);
    return true;
  }

  take(span, element) {
    this.button.hidden = true;
    const index = element.closest(".message")?.dataset.index;
    const words = index === undefined ? span : { message: Number(index), ...span };
    const put = this.put ?? this.page.form?.wordsWidget(index === undefined ? "field" : "message")?.put;
    this.put = null;
    if (put) put(words);
    else this.startWith(words);
    this.page.status.say(t("Taken: {text}", { text: span.text }));
  }

  startWith(words) {
    const { layer, labelling } = this.page;
    const field = layer.fields.find(({ widget, within }) => widget === "span" && within === "message");
    if (field) labelling.start({ [field.name]: words });
  }

  // Beside what the mouse has selected stands a button that takes it.
  offer() {
    const found = this.within && !this.caret.isOn && selectedIn(TEXTS[this.within]);
    this.button.hidden = !found;
    if (!found) return;
    const box = found.range.getBoundingClientRect();
    this.button.style.left = `${Math.max(8, Math.min(box.right, innerWidth - 170))}px`;
    this.button.style.top = `${Math.min(box.bottom + 4, innerHeight - 48)}px`;
  }
}
