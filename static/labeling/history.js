// The history panel: every stored version, its labels beside those of now, and a way back.

import { RequestFailed, send } from "./api.js";
import { clockTime, dayOf, el } from "./dom.js";
import { smallButton } from "./rows.js";
import { t } from "./texts.js";
import { sameWork } from "./unsent.js";
import { drawVersion } from "./versions.js";

/** @import { Annotation, Parts } from "./types.d.ts" */

const KINDS = {
  saved: t("Saved"),
  submitted: t("Submitted"),
  skipped: t("Skipped"),
  reopened: t("Reopened"),
  returned: t("Returned"),
  restored: t("Restored"),
};
const NOT_LOADED = t("The history cannot be loaded now. Open it again to try once more.");

export class History {
  /**
   * `close()` hides the panel.
   *
   * @param {Pick<Parts, "store" | "status" | "autosave"> & {
   *   root: HTMLElement, urls: Annotation["urls"], readOnly: boolean, close: () => void
   * }} parts
   */
  constructor({ root, urls, readOnly, store, status, autosave, close }) {
    this.urls = urls;
    this.readOnly = readOnly;
    this.store = store;
    this.status = status;
    this.autosave = autosave;
    this.list = el("ol", { class: "revisions" });
    this.older = el("button", { type: "button", class: "button small", hidden: true }, t("Older versions"));
    this.older.addEventListener("click", () => this.loadMore());
    this.line = el("p", { class: "muted small", role: "status" });
    root.append(
      el("div", { class: "row spread panel-head" }, el("h2", {}, t("History")), smallButton(t("Close"), close)),
      this.line,
      this.list,
      this.older,
    );
  }

  get url() {
    return this.urls.revisions;
  }

  async open() {
    this.line.textContent = t("Loading…");
    await this.autosave.flush();
    this.list.replaceChildren();
    await this.load(this.url);
    if (this.list.children.length) this.line.textContent = t("Choose a version to see its labels, and which of them have changed since.");
    else if (this.line.textContent !== NOT_LOADED) this.line.textContent = t("Nothing is stored yet.");
  }

  async load(url) {
    try {
      const { results, next } = await send("GET", url);
      this.list.append(...results.map((revision) => this.draw(revision)));
      this.next = next;
      this.older.hidden = next === null;
      if (!results.length) this.line.textContent = "";
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.line.textContent = NOT_LOADED;
    }
  }

  async loadMore() {
    const first = this.list.children.length;
    await this.load(this.url + new URL(this.next).search);
    this.list.children[first]?.querySelector("button")?.focus();
  }

  draw(revision) {
    const body = el("div", { class: "revision-changes" });
    const head = el(
      "button",
      { type: "button", class: "revision", "aria-expanded": "false", data: { kind: revision.kind } },
      el("time", { datetime: revision.saved_at }, moment(revision.saved_at)),
      el("strong", {}, KINDS[revision.kind]),
      el("span", {}, contents(revision)),
      el("span", { class: "muted" }, t("rev {version} · {author}", { version: revision.version, author: revision.author })),
    );
    head.addEventListener("click", () => this.toggle(revision, head, body));
    return el("li", {}, head, body);
  }

  async toggle(revision, head, body) {
    const isOpen = head.getAttribute("aria-expanded") === "true";
    for (const other of this.list.querySelectorAll("[aria-expanded='true']")) {
      other.setAttribute("aria-expanded", "false");
      other.nextElementSibling?.replaceChildren();
    }
    if (isOpen) return;
    head.setAttribute("aria-expanded", "true");
    await this.autosave.flush();
    try {
      const stored = await send("GET", `${this.url}${revision.version}/`);
      if (head.getAttribute("aria-expanded") === "true") body.replaceChildren(...this.drawStored(stored));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      body.replaceChildren(el("p", { class: "error" }, t("This version cannot be loaded now.")));
    }
  }

  drawStored(stored) {
    const { layers, payload, said } = this.store;
    const now = { payload, ...said };
    if (sameWork(now, stored)) return [el("p", { class: "small" }, el("strong", {}, t("Nothing has changed since.")))];
    return [...drawVersion(layers, stored, now), this.restoreButton(stored.version)];
  }

  restoreButton(version) {
    if (this.readOnly) {
      return el("p", { class: "muted small" }, t("A version can be restored while the answer is a draft."));
    }
    const button = el("button", { type: "button", class: "button small primary" }, t("Restore this"));
    button.addEventListener("click", async () => {
      button.disabled = true;
      await this.restore(version);
      button.disabled = false;
    });
    return button;
  }

  async restore(version) {
    const { autosave, store, status } = this;
    if (!(await autosave.flush())) return this.say(t("Not restored: your last change is not saved yet."));
    autosave.seq += 1;
    const { version: base_version, client, seq } = autosave;
    try {
      const reply = await send("POST", this.urls.restore, { version, base_version, client, seq });
      store.replace(reply);
      autosave.adopt(reply.version);
      status.show("saved", reply);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (error.kind === "conflict") return autosave.conflict(error);
      return this.say(error.message ? t("Not restored: {message}", { message: error.message }) : t("Not restored. Try again."));
    }
    this.sayRestored(version);
    return this.open();
  }

  say(text) {
    this.status.notice("restored", { kind: "bad", text });
  }

  sayRestored(version) {
    const { status, store } = this;
    const text = t("The labels of rev {version} are back.", { version });
    status.notice("restored", { kind: "ok", text, actions: [[t("Undo"), () => store.undo()]] });
  }
}

function moment(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clockTime(time) : `${dayOf(time)} ${clockTime(time)}`;
}

function contents({ labels, empty }) {
  if (empty) return t("nothing here");
  return labels === 1 ? t("1 label") : t("{labels} labels", { labels });
}
