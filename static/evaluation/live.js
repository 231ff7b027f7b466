// A run that goes on: every two seconds one request brings what has changed, and only that is
// written. Nothing is asked for while nobody sees the page, nor after the run has ended.

import { byId, setText, showIf } from "../labeling/dom.js";

const EVERY_MS = 2000;
const url = byId("run-live").dataset.url + location.search;
const said = byId("run-said");
let asking = false;
let state = byId("run-progress").dataset.said;

/**
 * Like replacing it, but what stays the same keeps the focus and what is selected.
 *
 * @param {any} old
 * @param {any} fresh
 */
function update(old, fresh) {
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

// Read out when the state changes, not with every case.
function announce(fresh) {
  if (fresh === state) return;
  state = fresh;
  setText(said, fresh);
}

async function poll() {
  if (document.hidden || asking) return;
  asking = true;
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" }, redirect: "error" });
    showIf(byId("run-stale"), !response.ok);
    if (response.ok) take(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    showIf(byId("run-stale"), true);
  } finally {
    asking = false;
  }
}

/** @param {Document} fresh */
function take(fresh) {
  const progress = /** @type {HTMLElement} */ (fresh.getElementById("run-progress"));
  if ("ended" in progress.dataset) {
    clearInterval(timer);
    location.reload(); // its figures are on the page now
    return;
  }
  for (const part of fresh.querySelectorAll("[data-live]")) {
    const old = byId(part.id);
    if (old) update(old, part);
  }
  document.title = fresh.title;
  announce(progress.dataset.said);
}

const timer = setInterval(poll, EVERY_MS);
document.addEventListener("visibilitychange", poll);
