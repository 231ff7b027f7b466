// Search in the conversation. Hits are painted over the text by the browser (CSS highlights), so
// that the text itself is never touched; a browser without them still goes from hit to hit.

import { byId } from "./dom.js";
import { t } from "./texts.js";

/** @import { Parts } from "./types.d.ts" */

const MARKS = /[\u0300-\u036f\u3099\u309a]/gu;
const SAME = Object.fromEntries(
  [["'", "’‘‚‛′´`"], ['"', "“”„‟″«»"], [" ", "\u00a0\u202f"], ["-", "‐‑–—−"]].flatMap(([key, signs]) => Array.from(signs, (sign) => [sign, key])),
);

export class Search {
  /** @param {Pick<Parts, "messages" | "status">} parts */
  constructor({ messages, status }) {
    this.messages = messages;
    this.status = status;
    this.folded = null;
    this.hits = [];
    this.at = -1;
    this.isOpen = false;
    this.bar = byId("search");
    this.input = byId("search-input");
    this.count = byId("search-count");
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    byId("search-next").addEventListener("click", () => this.go(1));
    byId("search-previous").addEventListener("click", () => this.go(-1));
    byId("search-close").addEventListener("click", () => this.close());
  }

  open() {
    this.bar.hidden = false;
    this.input.focus();
    this.input.select();
    this.find();
  }

  close() {
    this.bar.hidden = true;
    this.hits = [];
    this.paint();
    this.messages.move(0, { focus: true });
  }

  pressed(event) {
    if (event.isComposing) return;
    if (event.key === "Enter") this.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  find() {
    const wanted = folded(this.input.value).plain;
    this.hits = wanted ? this.texts.flatMap((text, index) => this.hitsIn(text, index, wanted)) : [];
    const here = this.messages.currentIndex;
    this.at = this.hits.length ? Math.max(0, this.hits.findIndex((hit) => hit.index >= here)) : -1;
    this.show();
  }

  // Messages never change, so each is folded once.
  get texts() {
    this.folded ??= this.messages.texts.map(({ data }) => folded(data));
    return this.folded;
  }

  hitsIn({ plain, places }, index, wanted) {
    const node = this.messages.texts[index];
    const hits = [];
    for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
      hits.push({ index, range: rangeAt(node, places[at], places[at + wanted.length]) });
    }
    return hits;
  }

  go(step) {
    if (!this.hits.length) return this.status.say(this.input.value ? t("No hit") : t("Nothing to search for"));
    this.at = (this.at + step + this.hits.length) % this.hits.length;
    return this.show();
  }

  show() {
    this.paint();
    const { length } = this.hits;
    this.count.textContent = this.input.value ? t("{at} of {total}", { at: length ? this.at + 1 : 0, total: length }) : "";
    if (!length) return;
    const { index, range } = this.hits[this.at];
    this.messages.show(index);
    this.status.announce(t("Hit {at} of {total}, message {index}", { at: this.at + 1, total: length, index }));
    range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  }

  paint() {
    this.messages.painted.show("hits", this.hits);
    this.messages.painted.show("hit", this.hits.slice(Math.max(0, this.at), this.at + 1));
  }
}

// Case, accents and the form of quotation marks do not count. `places` has where in the text each
// unit that is left stands, and the end of the text.
const folded = (text) => {
  let plain = "", at = 0;
  const places = [];
  for (const letter of text) {
    const kept = letter.normalize("NFD").replace(MARKS, "").normalize("NFC").toLowerCase().replace(/./gu, (sign) => SAME[sign] ?? sign);
    places.push(...Array(kept.length).fill(at));
    plain += kept;
    at += letter.length;
  }
  return { plain, places: [...places, at] };
};

const rangeAt = (node, startOffset, endOffset) =>
  new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
