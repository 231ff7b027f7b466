// The comments panel: threads about the conversation, a message or a label, drawn by the server, and how many there are.

import { RequestFailed, sendForm } from "./api.js";
import { all, byId, el } from "./dom.js";
import { t } from "./texts.js";

/** @import { Parts } from "./types.d.ts" */
/** @typedef {{ about?: any, label?: any }} Place a message, a label, or neither: the whole conversation */

const NOT_SENT = {
  "signed-out": t("Not sent: you are signed out. Sign in again in another tab, then send again."),
  unreachable: t("Not sent: the server cannot be reached. Your text is kept; try again."),
};

export class Comments {
  /**
   * `show()` brings the panel into view.
   *
   * @param {Pick<Parts, "store" | "status" | "autosave" | "messages" | "labels" | "view"> & {
   *   root: HTMLElement, show: () => void
   * }} parts
   */
  constructor({ root, store, status, autosave, messages, labels, view, show }) {
    this.root = root;
    this.store = store;
    this.status = status;
    this.autosave = autosave;
    this.messages = messages;
    this.labels = labels;
    this.view = view;
    this.show = show;
    this.form = byId("comment-form");
    this.about = byId("comment-about");
    this.text = byId("comment-text");
    this.error = byId("comment-error");
    this.threads = byId("threads");
    root.addEventListener("submit", (event) => this.submitted(event));
    this.form.addEventListener("focusin", (event) => this.entered(event));
    this.threads.addEventListener("click", (event) => this.follow(event));
    root.addEventListener("keydown", (/** @type {any} */ event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.target.form?.requestSubmit();
    });
    new MutationObserver(() => this.mark()).observe(byId("labels"), { childList: true });
    this.mark();
  }

  open() {
    this.offerPins();
    if (!all("textarea", this.threads).some((/** @type {any} */ answer) => answer.value)) this.load();
    setTimeout(() => this.text.focus()); // after the panel itself got the focus
  }

  // Coming back from the conversation with nothing written: about what is current now.
  entered({ relatedTarget }) {
    if (!this.text.value && !this.root.contains(relatedTarget)) this.offerPins();
  }

  offerPins() {
    const { messages, store } = this;
    const { openUid, currentUid } = this.view;
    const uid = openUid ?? currentUid ?? "";
    const places = [
      { about: messages.currentIndex },
      ...(store.label(uid) ? [{ label: uid }] : []),
      {},
    ];
    this.about.replaceChildren(...places.map((place) => el("option", { value: JSON.stringify(place) }, this.nameOf(place))));
    this.about.selectedIndex = openUid ? 1 : 0;
  }

  async load() {
    try {
      this.draw(await sendForm(this.form.action));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.error.textContent = t("The comments cannot be loaded now.");
    }
  }

  // A new thread, an answer, or that a thread is settled.
  async submitted(event) {
    event.preventDefault();
    const { target: form, submitter } = event;
    const fields = new FormData(form, submitter);
    const place = form === this.form ? JSON.parse(this.about.value) : {};
    for (const [name, value] of Object.entries(place)) fields.set(name, value);
    try {
      if (place.label) await this.autosave.flush(); // a new label has to be known
      this.draw(await sendForm(form.action, fields));
      this.error.textContent = "";
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.error.textContent = NOT_SENT[error.kind] ?? error.message;
      return form.querySelector("textarea")?.focus();
    }
    if (form === this.form) form.reset();
    this.status.announce(fields.has("body") ? t("Comment sent") : "");
    return this.text.focus();
  }

  draw(html) {
    this.threads.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
    this.mark();
  }

  /** @param {Place} place */
  nameOf({ about, label }) {
    if (label) return this.store.label(label) ? t("label {name}", { name: this.store.name(label) }) : t("a label that is not here any more");
    return about === undefined ? t("the whole conversation") : t("message {index}", { index: about });
  }

  follow(event) {
    if (!event.target.closest("a")) return;
    event.preventDefault();
    this.goTo(placeOf(event.target.closest(".thread")));
  }

  /** @param {Place} place */
  goTo({ about, label }) {
    if (label && this.store.label(label)) this.view.open(label);
    else if (about !== undefined) this.messages.goTo(Number(about));
  }

  // How many open threads there are, at the message or label they are about; labels may have been renumbered.
  mark() {
    for (const count of all(".comment-count")) count.remove();
    for (const thread of all(".thread[data-label] a", this.threads)) thread.textContent = this.nameOf(placeOf(thread.closest(".thread")));
    const open = Map.groupBy(all(".thread:not(.settled)", this.threads), (thread) => this.elementOf(placeOf(thread)));
    for (const [element, threads] of open) element?.append(this.drawCount(threads));
  }

  /** @param {Place} place */
  elementOf({ about, label }) {
    if (label) return this.labels.cards.get(label)?.head.parentElement;
    return this.messages.items[about]?.querySelector(".message-head");
  }

  drawCount(threads) {
    const place = placeOf(threads[0]);
    const text = threads.length === 1 ? t("1 comment") : t("{n} comments", { n: threads.length });
    const name = t("{text} on {place}", { text, place: this.nameOf(place) });
    const show = (event) => {
      event.stopPropagation();
      this.goTo(place);
      if (this.root.hidden) this.show();
      else this.open();
    };
    return el("button", { type: "button", class: "comment-count", "aria-label": name, onclick: show }, text);
  }
}

/** @type {(thread: any) => Place} */
const placeOf = ({ dataset: { about, label } }) => ({ about, label });
