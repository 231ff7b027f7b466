// Words painted over the text by the browser (CSS highlights), so that the text is never touched.
//
// The browser looks at every painted place again whenever anything on the page changes. Therefore
// only what is near the reader is painted; the rest follows as it comes near.

const NEAR = "25% 0px";

export class Paint {
  /**
   * @param {HTMLElement[]} items the messages; they are in stretches
   * @param {AbortSignal} [signal] ends the painting
   */
  constructor(items, signal) {
    this.stretches = items.map((item) => item.closest(".stretch") ?? item);
    this.marks = new Map(); // name -> [{index, range}, …]
    this.drawn = new Map(); // name -> the ranges that are painted
    this.near = new Set();
    if (!CSS.highlights) return; // a browser without them shows the text as it is
    const observer = new IntersectionObserver((entries) => this.moved(entries), { rootMargin: NEAR });
    for (const stretch of new Set(this.stretches)) observer.observe(stretch);
    signal?.addEventListener("abort", () => {
      observer.disconnect();
      CSS.highlights.clear();
    });
  }

  moved(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.near.add(target);
      else this.near.delete(target);
    }
    for (const name of this.marks.keys()) this.draw(name);
  }

  show(name, marks) {
    this.marks.set(name, marks);
    if (CSS.highlights) this.draw(name);
  }

  draw(name) {
    const marks = this.marks.get(name).filter(({ index }) => this.near.has(this.stretches[index]));
    const ranges = marks.map(({ range }) => range);
    const before = this.drawn.get(name) ?? [];
    if (ranges.length === before.length && ranges.every((range, at) => isSame(range, before[at]))) return;
    this.drawn.set(name, ranges);
    CSS.highlights.set(name, new Highlight(...ranges));
  }
}

const isSame = (a, b) =>
  a.startContainer === b.startContainer && a.startOffset === b.startOffset && a.endOffset === b.endOffset;
