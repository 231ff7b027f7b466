// What every page shares: theme switch, menus, definition tooltips, scrollable tables.

import { nameStack } from "./stacks.js";

const root = document.documentElement;

function currentTheme() {
  if (root.dataset.theme) return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function switchTheme() {
  const theme = currentTheme() === "dark" ? "light" : "dark";
  root.dataset.theme = theme;
  try {
    localStorage.setItem("assay:theme", theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

document.querySelector("[data-theme-switch]")?.addEventListener("click", switchTheme);

/** @returns {HTMLDetailsElement[]} */
const openMenus = () => [...document.querySelectorAll(/** @type {any} */ ("details.menu[open]"))];

function closeMenus(except) {
  for (const menu of openMenus()) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener("click", (/** @type {any} */ { target }) => closeMenus(target.closest("details.menu")));

// A menu that the keyboard has left covers what is behind it.
document.addEventListener("focusin", (/** @type {any} */ { target }) => closeMenus(target.closest("details.menu")));

// The pages of a project, which a narrow window folds.
const pages = document.querySelector(".project-menu");

function unfold(isOpen) {
  pages?.setAttribute("aria-expanded", String(isOpen));
}

pages?.addEventListener("click", () => unfold(pages.getAttribute("aria-expanded") === "false"));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const [menu] = openMenus();
  if (menu) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  } else if (pages?.getAttribute("aria-expanded") === "true") {
    unfold(false);
    /** @type {HTMLElement} */ (pages).focus();
  }
  // WCAG 1.4.13: a tooltip goes away without moving the pointer.
  document.querySelector(".term:is(:hover, :focus)")?.classList.add("dismissed");
});

// A tooltip is fixed to the window, because a scrolling table would cut it off.
function placeTip(event) {
  const term = event.target.closest?.(".term");
  const tip = term?.querySelector(".tip");
  if (!tip) return;
  term.classList.remove("dismissed");
  const at = term.getBoundingClientRect();
  const box = tip.getBoundingClientRect();
  const below = at.bottom + 6 + box.height < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.width - 8))}px`;
  tip.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - box.height - 6)}px`;
}

document.addEventListener("mouseover", placeTip);
document.addEventListener("focusin", placeTip);

// On a phone the tabs scroll: the page that is open must be among those in sight.
for (const tabs of document.querySelectorAll(".tabs")) {
  /** @type {HTMLElement | null} */
  const here = tabs.querySelector(":scope > [aria-current]");
  if (!here) continue;
  const middle = here.offsetLeft + here.offsetWidth / 2 - /** @type {HTMLElement} */ (tabs).offsetLeft;
  tabs.scrollLeft = middle - tabs.clientWidth / 2;
}

// What scrolls must be reachable by keyboard, and a screen reader must say what it has reached.
function mark(box) {
  const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  if (scrolls) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  if (scrolls && !box.hasAttribute("role")) {
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", nameOf(box));
  }
}

/** The table's own caption, or the heading above it. */
function nameOf(box) {
  const inside = box.querySelector("caption");
  const headings = [...document.querySelectorAll("main :is(h1, h2, h3, h4)")];
  const above = headings.filter((one) => one.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING);
  return (inside ?? above.at(-1))?.textContent?.trim().replace(/\s+/g, " ") || document.title;
}

function nameCells() {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table.stacks"))) nameStack(table);
}

const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => mark(target)));

function markScrollable() {
  for (const box of document.querySelectorAll(".table-wrap, pre")) {
    mark(box);
    sizes.observe(box);
  }
}

nameCells();
markScrollable();
for (const type of ["htmx:afterSettle", "assay:exchanged"]) {
  document.addEventListener(type, nameCells);
  document.addEventListener(type, markScrollable);
}

// A part of the page that is replaced by itself takes the focus with it: it goes to the same control of the new part,
// or to the control that took its place.
const CONTROLS = "a[href], button, summary, input:not([type='hidden']), select, textarea";

/** @type {{ region: string, name: string, at: number } | null} */
let left = null;

const nameOfControl = (control) =>
  [control.tagName, control.name, control.getAttribute("href"), control.getAttribute("aria-label") ?? control.textContent.trim()].join(" ");

// A form whose answer takes the place of the page (templates/labeling/_begin_in_place.html): the answer may say what was wrong,
// or that nobody is signed in any more, or there is none.
document.addEventListener("htmx:beforeSwap", (/** @type {any} */ { detail }) => {
  const { xhr, target, requestConfig } = detail;
  if (new URL(xhr.responseURL).pathname === "/sign-in/") {
    detail.shouldSwap = false;
    location.reload();
  } else if (requestConfig.verb === "post" && ["main", "step-files"].includes(target.id)) {
    detail.shouldSwap = true;
  }
});

document.addEventListener("htmx:sendError", () => document.getElementById("unsent")?.removeAttribute("hidden"));

/** @returns {HTMLElement[]} */
const controlsOf = (region) => [...(region?.querySelectorAll(CONTROLS) ?? [])];

document.addEventListener("htmx:beforeSwap", (/** @type {any} */ { detail }) => {
  const control = document.activeElement;
  const region = control?.closest("[id]:not(a, button, summary, input, select, textarea)");
  left = control && region && detail.target.contains(control)
    ? { region: region.id, name: nameOfControl(control), at: controlsOf(region).indexOf(/** @type {any} */ (control)) }
    : null;
});

document.addEventListener("htmx:afterSettle", () => {
  if (!left || document.activeElement !== document.body) return;
  const { region, name, at } = left;
  left = null;
  const controls = controlsOf(document.getElementById(region) ?? document.getElementById("main"));
  const control = controls.find((each) => nameOfControl(each) === name) ?? controls[Math.min(at, controls.length - 1)];
  (control ?? document.getElementById("main"))?.focus({ preventScroll: true });
});
