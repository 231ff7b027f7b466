// Keys to actions, by the key table of the page. The help overlay is drawn from the same table.

import { el } from "./dom.js";

const STORED = "assay:single-keys";
const NAMES = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Delete: "Del", Enter: "Enter" };
const OWN_ARROWS = 'input[type="radio"], input[type="range"]';
const TEXT = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";

export class Keys {
  // `actions` maps a row's action to a function of the pressed key; false means "not for me".
  constructor(table, actions) {
    this.table = table;
    this.actions = actions;
    this.bindings = new Map(table.flatMap(expanded));
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  get singleKeys() {
    try {
      return localStorage.getItem(STORED) !== "off";
    } catch {
      return true;
    }
  }

  set singleKeys(on) {
    try {
      localStorage.setItem(STORED, on ? "on" : "off");
    } catch {
      // Storage is blocked: the keys stay on.
    }
  }

  pressed(event) {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    const row = this.bindings.get(combination(event));
    if (!row || !this.applies(row, event)) return;
    if (this.actions[row.action](event.key) !== false) event.preventDefault();
  }

  applies(row, { target, key }) {
    if (row.typing) return true;
    if (target.matches(TEXT) || target.isContentEditable) return false;
    if (row.key.startsWith("Ctrl+")) return true;
    if (key === "Enter" && target.closest("a, button, summary, input, [role=button]")) return false;
    if (key.startsWith("Arrow") && target.matches(OWN_ARROWS)) return false;
    return this.singleKeys;
  }
}

// "1-9" stands for nine keys
function expanded(row) {
  const range = row.key.match(/^(\d)-(\d)$/);
  if (!range) return [[row.key.toLowerCase(), row]];
  const [first, last] = range.slice(1).map(Number);
  return Array.from({ length: last - first + 1 }, (_, at) => [String(first + at), row]);
}

// As the table writes it. Shift counts for letters and named keys; for signs it only types them.
function combination({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const isNamed = key.length > 1 || key.toLowerCase() !== key.toUpperCase();
  const parts = [];
  if (ctrlKey || metaKey) parts.push("ctrl");
  if (altKey) parts.push("alt");
  if (shiftKey && isNamed) parts.push("shift");
  return [...parts, key.toLowerCase()].join("+");
}

export function drawKeys(table) {
  const groups = new Map();
  for (const row of table) {
    const group = groups.get(row.group) ?? new Map();
    const line = group.get(row.action) ?? { label: row.label, keys: [] };
    line.keys.push(row.key);
    groups.set(row.group, group.set(row.action, line));
  }
  return [...groups].map(([name, lines]) =>
    el("section", {}, el("h3", {}, name), el("dl", { class: "key-list" }, ...drawLines(lines))),
  );
}

function drawLines(lines) {
  return [...lines.values()].map(({ label, keys }) =>
    el("div", {}, el("dt", {}, ...keys.flatMap(drawCombination)), el("dd", {}, label)),
  );
}

function drawCombination(key, at) {
  const parts = key.split("+").map((part) => el("kbd", {}, NAMES[part] ?? part));
  const keys = el("span", { class: "nowrap" }, ...parts.flatMap((part, i) => (i ? ["+", part] : [part])));
  return at ? [" or ", keys] : [keys];
}
