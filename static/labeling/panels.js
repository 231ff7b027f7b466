// The panels beside the conversation: guidelines, history, comments. One is open at a time.
//
// A panel with more than fixed text has its own module, loaded before workspace.js, which says
//   register("history", (workspace, root) => ({ open() { … }, close() { … } }));
// `root` is the panel's <aside data-panel="history">; `workspace` has annotation (with urls), store,
// status, saving, messages.currentIndex, openUid, currentUid, goToMessage(index) and open(uid).
// open() runs each time the panel is shown.

const STORED = "assay:guidelines";
const makers = new Map();

export function register(name, make) {
  makers.set(name, make);
}

export class Panels {
  constructor(workspace) {
    this.roots = new Map();
    for (const root of document.querySelectorAll("[data-panel]")) {
      this.roots.set(root.dataset.panel, root);
      root.querySelector("[data-close-panel]")?.addEventListener("click", () => this.show(null));
    }
    this.frame = document.getElementById("workspace");
    this.parts = new Map([...makers].map(([name, make]) => [name, make(workspace, this.roots.get(name))]));
    this.current = null;
    this.show(this.stored() ? "guidelines" : null, { focus: false });
  }

  toggle(name) {
    const isOpen = this.current === name;
    if (name === "guidelines") this.remember(!isOpen);
    this.show(isOpen ? null : name);
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

  remember(isShown) {
    try {
      localStorage.setItem(STORED, isShown ? "open" : "closed");
    } catch {
      // Storage is blocked: shown again next time.
    }
  }

  show(name, { focus = true } = {}) {
    if (this.current !== name) this.parts.get(this.current)?.close?.();
    this.current = name;
    for (const [each, root] of this.roots) root.hidden = each !== name;
    this.frame.classList.toggle("with-panel", name !== null);
    for (const button of document.querySelectorAll("[data-action][aria-controls^='panel-']")) {
      button.setAttribute("aria-expanded", String(button.dataset.action === name));
    }
    if (!name) return;
    this.parts.get(name)?.open?.();
    if (focus && name !== "guidelines") this.roots.get(name).focus();
  }
}
