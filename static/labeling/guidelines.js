// The guidelines beside the conversation; whether they are shown is remembered.

import { byId } from "./dom.js";

const STORED = "assay:guidelines";

export class Guidelines {
  constructor() {
    this.panel = byId("guidelines");
    this.show(this.stored());
  }

  toggle() {
    this.show(this.panel.hidden);
    try {
      localStorage.setItem(STORED, this.panel.hidden ? "closed" : "open");
    } catch {
      // Storage is blocked: shown again next time.
    }
  }

  // Open until somebody closes them: nobody labels without having seen the guidelines. A narrow
  // screen has room for one thing only.
  stored() {
    if (!matchMedia("(width >= 60rem)").matches) return false;
    try {
      return localStorage.getItem(STORED) !== "closed";
    } catch {
      return true;
    }
  }

  show(isShown) {
    this.panel.hidden = !isShown;
    byId("workspace").classList.toggle("with-guidelines", isShown);
    for (const button of document.querySelectorAll("[data-action='guidelines']")) {
      button.setAttribute("aria-expanded", String(isShown));
    }
  }
}
