// The panels next to the conversation: guidelines, history, comments. One is open at a time.

import { all, byId, focused, isOneColumn } from "./dom.js";
import { keep, recall } from "./kept.js";

/** @import { PanelContent } from "./types.d.ts" */

const STORED = "assay:guidelines";

export class Panels {
  /**
   * `contents` has what fills a panel, by the panel's name; the guidelines are fixed text and need none.
   *
   * @param {Record<string, PanelContent>} contents
   */
  constructor(contents) {
    this.contents = contents;
    this.roots = new Map();
    for (const root of all("[data-panel]")) {
      this.roots.set(root.dataset.panel, root);
      root.querySelector("[data-close-panel]")?.addEventListener("click", () => this.show(null));
    }
    this.frame = byId("workspace");
    this.current = null;
    /** @type {HTMLElement | null} what had the focus before a panel got it */
    this.back = null;
    this.show(this.stored() ? "guidelines" : null, { focus: false });
  }

  toggle(name) {
    const isOpen = this.current === name;
    if (name === "guidelines") keep(STORED, isOpen ? "closed" : "open");
    this.show(isOpen ? null : name);
  }

  // Open until somebody closes them: nobody labels without having seen the guidelines. A narrow
  // screen has room for one thing only.
  stored() {
    return !isOneColumn() && recall(STORED) !== "closed";
  }

  show(name, { focus = true } = {}) {
    const wasIn = this.roots.get(this.current)?.contains(focused());
    this.current = name;
    for (const [each, root] of this.roots) root.hidden = each !== name;
    this.frame.classList.toggle("with-panel", name !== null);
    for (const button of all("[data-action][aria-controls^='panel-']")) {
      button.setAttribute("aria-expanded", String(button.dataset.action === name));
    }
    if (focus && wasIn) this.back?.focus({ preventScroll: true });
    if (!name) return;
    if (!wasIn) this.back = focused();
    this.contents[name]?.open();
    if (focus && name !== "guidelines") this.roots.get(name).focus();
  }
}
