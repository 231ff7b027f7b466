// The table of keys: shows what each key does and lets a person choose another.

import { all, byId, el } from "./dom.js";
import { isFixed, keyName, keyParts } from "./keys.js";
import { t } from "./texts.js";

const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta"]);

export function setUpKeyTable(keys) {
  const dialog = byId("help-dialog");
  const table = new KeyTable(keys, byId("help-keys"), byId("keys-error"));
  table.draw();
  byId("keys-reset").addEventListener("click", () => {
    keys.reset();
    table.draw(t("Shortcuts reset."));
  });
  dialog.addEventListener("close", () => table.draw());
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());
  return () => dialog.showModal();
}

class KeyTable {
  /**
   * @param {import("./keys.js").Keys} keys
   * @param {HTMLElement} root
   * @param {HTMLElement} line where it says what to do
   */
  constructor(keys, root, line) {
    this.keys = keys;
    this.root = root;
    this.line = line;
    root.addEventListener("keydown", (event) => this.pressed(event));
  }

  draw(text = "") {
    this.waiting = null;
    this.line.textContent = text;
    const groups = Map.groupBy(this.keys.table, (row) => row.group);
    this.root.replaceChildren(...[...groups].map(([name, rows]) => this.drawGroup(name, rows)));
  }

  drawGroup(name, rows) {
    const lines = [...Map.groupBy(rows, (row) => row.label)].map(([label, same]) =>
      el("div", {}, el("dt", {}, ...same.flatMap((row, at) => this.drawRow(row, at))), el("dd", {}, label)),
    );
    return el("section", {}, el("h3", {}, name), el("dl", { class: "facts" }, ...lines));
  }

  drawRow(row, at) {
    const parts = keyParts(row.key).map((part) => el("kbd", {}, part));
    const names = parts.flatMap((part, i) => (i ? ["+", part] : [part]));
    const or = at ? [" ", t("or"), " "] : [];
    if (isFixed(row)) return [...or, el("span", { class: "nowrap" }, ...names)];
    const button = el("button", { type: "button", class: "key-button", data: { usual: row.usual } }, ...names);
    button.setAttribute("aria-label", t("{key}: {label}. Change this key", { key: row.key, label: row.label }));
    button.addEventListener("click", () => this.wait(row));
    return [...or, button];
  }

  wait(row) {
    this.draw(t("Press the new key for “{label}”. Esc leaves it as it is.", { label: row.label }));
    this.waiting = row;
    this.buttonOf(row).classList.add("waiting");
    this.focus(row);
  }

  pressed(event) {
    const row = this.waiting;
    if (!row || MODIFIERS.has(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") this.draw(t("Nothing was changed."));
    else this.take(row, keyName(event));
    this.focus(row);
  }

  take(row, key) {
    const objection = this.keys.objection(row, key);
    if (objection) {
      this.line.textContent = t("{objection} Press another key, or Esc.", { objection });
      return;
    }
    this.keys.rebind(row, key);
    this.draw(`${key}: ${row.label}.`);
  }

  focus(row) {
    this.buttonOf(row).focus();
  }

  buttonOf(row) {
    return all(`[data-usual="${CSS.escape(row.usual)}"]`, this.root)[0];
  }
}
