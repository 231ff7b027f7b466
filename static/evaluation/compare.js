// The cases of two runs by keyboard: j and k go through the rows, Enter opens one, and while one is
// open the next one takes its place.

import { all, byId, readJson } from "../labeling/dom.js";
import { Keys } from "../labeling/keys.js";

const section = byId("cases");
const pane = byId("compared-case");
let opened = false;

const rows = () => all("a[data-compared]");

/** @param {number} by */
function step(by) {
  const links = rows();
  const at = links.indexOf(section.querySelector("a[data-compared][aria-current]"));
  const link = links[Math.min(Math.max(at + by, 0), links.length - 1)];
  if (!link) return false;
  mark(link);
  link.focus({ preventScroll: true });
  link.closest("tr")?.scrollIntoView({ block: "nearest" });
  if (opened) link.click();
  return true;
}

function mark(link) {
  for (const other of rows()) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
}

function open() {
  const link = document.activeElement;
  if (!link?.matches("a[data-compared]")) return false;
  /** @type {HTMLElement} */ (link).click();
  return true;
}

function leave() {
  if (!opened) return false;
  opened = false;
  pane.replaceChildren();
  section.querySelector("a[data-compared][aria-current]")?.focus();
  return true;
}

if (pane) {
  new Keys(readJson("keys"), { next: () => step(1), previous: () => step(-1), open, leave }, section.dataset.user);

  section.addEventListener("click", (/** @type {any} */ { target }) => {
    const link = target.closest("a[data-compared]");
    if (!link) return;
    mark(link);
    opened = true;
  });

  // On a phone the case is below the table.
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target === pane && matchMedia("(width < 60rem)").matches) pane.scrollIntoView({ block: "start" });
  });
}
