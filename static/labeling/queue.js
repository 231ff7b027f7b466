// A queue with nothing to begin looks for itself whether something has come: often at first, later once a minute, and
// never while nobody sees the page. Only what differs is written.

import { byId, setText, update } from "./dom.js";

const FIRST_MS = 3_000;
const MOST_MS = 60_000;
const SLOWER = 1.3;

let wait = FIRST_MS;
let timer = 0;

const isWaiting = () => "waits" in byId("queue").dataset;

function plan() {
  clearTimeout(timer);
  if (isWaiting() && !document.hidden) timer = setTimeout(look, wait);
}

async function look() {
  wait = Math.min(wait * SLOWER, MOST_MS);
  try {
    const response = await fetch(location.href, { redirect: "error" });
    if (response.ok) take(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // No connection, or nobody is signed in: it looks again later.
  }
  plan();
}

/** @param {Document} page */
function take(page) {
  const fresh = page.getElementById("queue");
  if (!fresh) return;
  update(byId("queue"), fresh);
  document.title = page.title;
  document.dispatchEvent(new Event("assay:exchanged"));
  setText(byId("queue-said"), byId("queue-line").textContent);
}

// Somebody who comes back sees at once what has come meanwhile.
document.addEventListener("visibilitychange", () => {
  wait = FIRST_MS;
  if (document.hidden || !isWaiting()) clearTimeout(timer);
  else look();
});

plan();
