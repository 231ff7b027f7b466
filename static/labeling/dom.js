// Building elements. Text only ever enters as text, never as markup.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} props
 * @param {any[]} children what is null or undefined is left out
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  if (tag === "textarea" || (tag === "input" && ["text", "search"].includes(props.type))) node.dir = "auto";
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// In a narrow window the labels are below the text, and the page scrolls.
export const isOneColumn = () => !matchMedia("(width >= 60rem)").matches;

// Written only where it differs: whatever is written is laid out again, be it the same or not.
export function setText(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function showIf(node, isShown) {
  if (node.hidden === isShown) node.hidden = !isShown;
}

/**
 * What it is depends on the page, which may not have it at all.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * Every element that fits, as an array.
 * @type {(selector: string, root?: ParentNode) => HTMLElement[]}
 */
export const all = (selector, root = document) => Array.from(root.querySelectorAll(selector), asHtml);

const asHtml = (element) => element;

// What has the focus; the body where nothing has it.
export const focused = () => /** @type {HTMLElement} */ (document.activeElement ?? document.body);

/**
 * The buttons of a page that do what a key does.
 * @type {(actions: import("./types.d.ts").Actions) => void}
 */
export function wireButtons(actions) {
  for (const button of all("[data-action]")) {
    button.addEventListener("click", () => actions[button.dataset.action ?? ""]?.(""));
  }
}

/** @type {(id: string) => any} */
export const readJson = (id) => JSON.parse(byId(id).textContent);

// randomUUID() exists only on https and localhost; a team's server may be plain http.
export function newUid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, hex);
}

export function dayOf(moment) {
  /** @type {Intl.DateTimeFormatOptions} */
  const written = { day: "numeric", month: "short", year: "numeric" };
  return new Date(moment).toLocaleDateString(document.documentElement.lang, written);
}

export function clockTime(moment) {
  return new Date(moment).toLocaleTimeString(document.documentElement.lang);
}

/**
 * Like replacing it, but what stays the same keeps the focus and what is selected.
 *
 * @param {any} old
 * @param {any} fresh
 */
export function update(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(document.importNode(fresh, true));
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  const names = Array.from(old.attributes, (attribute) => attribute.name);
  for (const name of names) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  for (const [at, child] of after.entries()) {
    if (at < before.length) update(before[at], child);
    else old.append(document.importNode(child, true));
  }
  for (const surplus of before.slice(after.length)) surplus.remove();
}
