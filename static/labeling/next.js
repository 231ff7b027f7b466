// The next conversation, in the page of the last one: the server sends what differs, and the scripts begin with it as
// with a new page. Where that cannot be (no answer, another language, person or version), its page is loaded.

import { csrfToken } from "./api.js";
import { all, byId } from "./dom.js";

/** @import { Annotation } from "./types.d.ts" */

const PATIENCE_MS = 10_000;

/**
 * What to show; null where a page is loaded instead.
 *
 * @param {HTMLFormElement} form which loads it
 * @param {Annotation} last
 */
export async function askForNext(form, { user, urls }) {
  byId("main").inert = true; // keys and clicks meanwhile are meant for neither
  const answer = await ask(form.action);
  if (answer === null) form.submit();
  else if (answer.isElsewhere) location.assign(urls.queue);
  else {
    const page = new DOMParser().parseFromString(answer.html, "text/html");
    const next = annotationOf(page);
    if (next.user === user && hasOurScripts(page)) return page;
    location.assign(next.urls.workspace);
  }
  return null;
}

// Elsewhere: nothing is left or somebody is signed out, which that page says.
async function ask(url) {
  const headers = { "HX-Request": "true", "X-CSRFToken": csrfToken() };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, { method: "POST", headers, redirect: "manual", signal });
    if (!response.ok && response.type !== "opaqueredirect") return null;
    return { html: await response.text(), isElsewhere: !response.ok };
  } catch {
    return null;
  }
}

/** @type {(page: Document) => Annotation} */
const annotationOf = (page) => JSON.parse(page.getElementById("annotation")?.textContent ?? "");

// After an upgrade or a change of language in another tab the content is not for the scripts of this page.
function hasOurScripts(page) {
  const here = new Set(sources(document));
  return page.documentElement.lang === document.documentElement.lang && sources(page).every((source) => here.has(source));
}

const sources = (page) =>
  all("script[src], link[rel='stylesheet']", page).map((node) => node.getAttribute("src") ?? node.getAttribute("href"));

/** @param {Document} page */
export function exchange(page) {
  const main = byId("main");
  history.pushState(null, "", annotationOf(page).urls.workspace);
  document.title = page.title;
  for (const flash of all(".flashes")) flash.remove();
  main.replaceChildren(...(page.querySelector("main")?.children ?? []));
  main.inert = false;
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
  document.dispatchEvent(new Event("assay:exchanged"));
}
