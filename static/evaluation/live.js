// A run that goes on: every two seconds one request brings what has changed, and only that is
// written. Nothing is asked for while nobody sees the page, nor after the run has ended.

import { byId, setText, showIf, update } from "../labeling/dom.js";

const EVERY_MS = 2000;
const url = byId("run-live").dataset.url + location.search;
const said = byId("run-said");
let asking = false;
let state = byId("run-progress").dataset.said;

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
  document.dispatchEvent(new Event("assay:exchanged")); // what scripts had added to the old parts is gone
  document.title = fresh.title;
  announce(progress.dataset.said);
}

const timer = setInterval(poll, EVERY_MS);
document.addEventListener("visibilitychange", poll);
