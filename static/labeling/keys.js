// Keys to actions, by the key table of the page.

import { all, byId } from "./dom.js";
import { keep, recall } from "./kept.js";
import { t } from "./texts.js";

/** @import { Actions, KeyRow } from "./types.d.ts" */

const OWN_ARROWS = 'input[type="radio"], input[type="range"]';
const TEXT = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";
const RANGE = /^(\d)-(\d)$/;

export class Keys {
  /**
   * @param {KeyRow[]} table
   * @param {Actions} actions
   * @param {string | number} user who may have turned single keys off
   * @param {AbortSignal} [signal] ends the listening
   */
  constructor(table, actions, user, signal) {
    this.table = table;
    this.actions = actions;
    this.storedSingle = `assay:single-keys:${user}`;
    this.bindings = new Map(table.flatMap(expanded));
    for (const hint of all("kbd[data-key]")) hint.textContent = shortName(this.keyOf(hint.dataset.key));
    this.offerSingleKeys(byId("single-keys"));
    document.addEventListener("keydown", (event) => this.pressed(event), { signal });
  }

  keyOf(action) {
    return this.table.find((row) => row.action === action)?.key ?? "";
  }

  get singleKeys() {
    return recall(this.storedSingle) !== "off";
  }

  offerSingleKeys(box) {
    if (!box) return;
    box.checked = this.singleKeys;
    box.addEventListener("change", () => keep(this.storedSingle, box.checked ? "on" : "off"));
  }

  pressed(event) {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    const name = keyName(event).toLowerCase();
    const row = this.bindings.get(name) ?? this.zero(name);
    if (!row || !this.applies(row, event)) return;
    if (this.actions[row.action](event.key) !== false) event.preventDefault();
  }

  // On a scale, 0 is a digit like the others; while a row has that key, it is the row's.
  zero(name) {
    return name === "0" ? this.table.find((row) => row.action === "choose") : undefined;
  }

  applies(row, { target, key }) {
    if (row.typing) return true;
    if (target.matches(TEXT) || target.isContentEditable) return false;
    if (row.key.startsWith("Ctrl+")) return true;
    if (key === "Enter" && target.closest("a, button, summary, input, [role=button]")) return false;
    if (key.startsWith("Arrow") && target.matches(OWN_ARROWS)) return false;
    return row.key.startsWith("Alt+") || this.singleKeys;
  }
}

/**
 * "1-9" stands for nine keys.
 * @type {(row: KeyRow) => [string, KeyRow][]}
 */
function expanded(row) {
  const range = row.key.match(RANGE);
  if (!range) return [[row.key.toLowerCase(), row]];
  const [first, last] = range.slice(1).map(Number);
  return Array.from({ length: last - first + 1 }, (_, at) => [String(first + at), row]);
}

// As the table writes it. Shift counts for letters and named keys; for signs it only types them,
// and so does AltGr, which some systems report as Ctrl+Alt.
export function keyName(event) {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  const typesSign = key.length === 1 && !isLetter && event.getModifierState?.("AltGraph");
  const parts = [];
  if ((ctrlKey || metaKey) && !typesSign) parts.push("Ctrl");
  if (altKey && !typesSign) parts.push("Alt");
  if (shiftKey && (isLetter || key.length > 1)) parts.push("Shift");
  const letter = parts.length ? key.toUpperCase() : key.toLowerCase();
  return [...parts, isLetter ? letter : key].join("+");
}

const NAMES = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  Ctrl: t("Ctrl"),
  Delete: t("Del"),
};

export const keyParts = (key) =>
  key === "+" ? ["+"] : key.split("+").map((part) => NAMES[part] ?? part);

const shortName = (key) => keyParts(key).join(" ").replace("Enter", "⏎");
