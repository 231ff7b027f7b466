// The comments panel: threads about the conversation, a message or a label, and how many there are.

import { RequestFailed, send } from "./api.js";
import { byId, clockTime, dayOf, el, setAttribute, setText } from "./dom.js";
import { smallButton } from "./rows.js";
import { t } from "./texts.js";

/** @import { Annotation, Parts } from "./types.d.ts" */

const WHOLE = t("the whole conversation");
const BLIND = t("This round is blind: until it is closed only leads read your comments, and nobody reads those about a label.");
const NOT_SENT = {
  "signed-out": t("Not sent: you are signed out. Sign in again in another tab, then send again."),
  unreachable: t("Not sent: the server cannot be reached. Your text is kept; try again."),
};

export class Comments {
  /**
   * `show()` brings the panel into view, `close()` hides it.
   *
   * @param {Pick<Parts, "store" | "status" | "autosave" | "messages" | "labels" | "view"> & {
   *   root: HTMLElement, annotation: Annotation, show: () => void, close: () => void
   * }} parts
   */
  constructor({ root, annotation, store, status, autosave, messages, labels, view, show, close }) {
    this.root = root;
    this.url = annotation.urls.comments;
    this.blind = annotation.blind;
    this.store = store;
    this.status = status;
    this.autosave = autosave;
    this.messages = messages;
    this.labels = labels;
    this.view = view;
    this.show = show;
    this.close = close;
    this.comments = annotation.comments ?? [];
    this.openThreads = [];
    this.answering = null; // the thread that is being answered
    this.counts = new Map(); // place of a count -> its button
    this.about = el("select", { id: "comment-about" });
    this.text = el("textarea", {
      id: "comment-text",
      rows: 3,
      maxlength: 4000,
      "aria-describedby": "comment-error",
    });
    this.error = el("p", { class: "error", id: "comment-error", role: "alert" });
    this.people = el("p", { class: "people small" });
    this.readers = el("p", { class: "muted small", hidden: !this.blind }, BLIND);
    this.answer = el("p", { class: "answering small", hidden: true });
    this.aboutField = el("p", { class: "field" }, el("label", { for: "comment-about" }, t("About")), this.about);
    const post = el("button", { type: "submit", class: "button small primary" }, t("Send"), " ", el("kbd", {}, `${t("Ctrl")} ⏎`));
    this.form = el(
      "form",
      { class: "comment-form", novalidate: true },
      this.aboutField,
      this.answer,
      el("p", { class: "field" }, el("label", { for: "comment-text" }, t("Comment")), this.text),
      this.error,
      this.people,
      this.readers,
      post,
    );
    this.form.addEventListener("submit", (event) => this.post(event));
    this.form.addEventListener("focusin", (event) => this.entered(event));
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.post(event);
    });
    this.threads = el("div", { class: "threads" });
    const head = el("div", { class: "row spread panel-head" }, el("h2", {}, t("Comments")), smallButton(t("Close"), this.close));
    this.root.append(head, this.form, this.threads);
    new MutationObserver(() => this.mark()).observe(byId("labels"), { childList: true });
    if (annotation.comments) this.draw();
    else this.load();
  }

  open() {
    this.offerPins();
    this.load();
    setTimeout(() => this.text.focus()); // after the panel itself got the focus
  }

  // Coming back from the conversation with nothing written: about what is current now.
  entered({ relatedTarget }) {
    if (!this.text.value && !this.answering && !this.root.contains(relatedTarget)) this.offerPins();
  }

  offerPins() {
    const { messages, store } = this;
    const { openUid, currentUid } = this.view;
    const uid = openUid ?? currentUid ?? "";
    const options = [
      [`message:${messages.currentIndex}`, t("message {index}", { index: messages.currentIndex })],
      ...(store.label(uid) ? [[`label:${uid}`, this.nameOf({ label_uid: uid })]] : []),
      ["", WHOLE],
    ];
    this.about.replaceChildren(...options.map(([value, name]) => el("option", { value }, name)));
    this.about.value = openUid ? `label:${openUid}` : `message:${messages.currentIndex}`;
  }

  async load() {
    const comments = [];
    let page = this.url;
    try {
      while (page !== null) {
        const { results, next, people } = await send("GET", page);
        comments.push(...results);
        page = next && this.url + new URL(next).search;
        this.drawPeople(people);
      }
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.error.textContent = t("The comments cannot be loaded now.");
      return;
    }
    this.comments = comments;
    this.draw();
  }

  drawPeople(names) {
    const buttons = names.map((name) => {
      const button = el("button", { type: "button", class: "label-chip", "aria-label": t("Mention {name}", { name }) }, `@${name}`);
      button.addEventListener("click", () => this.mention(name));
      return button;
    });
    this.people.replaceChildren(t("Mention:"), " ", ...buttons);
  }

  mention(name) {
    const { value } = this.text;
    this.text.value = `${value}${value && !/\s$/.test(value) ? " " : ""}@${name} `;
    this.text.focus();
  }

  // Sending

  async post(event) {
    event.preventDefault();
    const body = this.text.value.trim();
    this.error.textContent = body ? "" : t("Write something first.");
    if (!body) return this.text.focus();
    try {
      await this.send({ body, ...this.pin() });
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.error.textContent = NOT_SENT[error.kind] ?? error.message;
      return this.text.focus();
    }
    this.text.value = "";
    this.answerTo(null);
    this.status.announce(t("Comment sent"));
    return this.load();
  }

  async send(comment) {
    if (comment.label_uid) await this.autosave.flush(); // a new label has to be known
    await send("POST", this.url, comment);
  }

  pin() {
    if (this.answering) return { reply_to: this.answering.id };
    const [kind, value] = this.about.value.split(/:(.*)/s);
    if (kind === "message") return { message_index: Number(value) };
    return kind === "label" ? { label_uid: value } : {};
  }

  answerTo(thread) {
    this.answering = thread;
    this.aboutField.hidden = Boolean(thread);
    this.answer.hidden = !thread;
    if (!thread) return;
    const cancel = el("button", { type: "button", class: "button small quiet" }, t("Cancel"));
    cancel.addEventListener("click", () => {
      this.answerTo(null);
      this.offerPins();
    });
    this.answer.replaceChildren(t("Answer to {author}, about {place} ", { author: thread.author, place: this.nameOf(thread) }), cancel);
    this.text.focus();
  }

  async resolve(thread, resolved) {
    try {
      await send("POST", `/api/comments/${thread.id}/resolve/`, { resolved });
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.error.textContent = t("This could not be stored. Try again.");
    }
    return this.load();
  }

  // Drawing

  draw() {
    /** @type {Set<number | null>} */
    const ids = new Set(this.comments.map((comment) => comment.id));
    const threads = this.comments.filter(({ parent }) => !ids.has(parent));
    const open = threads.filter((thread) => !thread.resolved_at);
    const settled = threads.filter((thread) => thread.resolved_at);
    const drawn = open.map((thread) => this.drawThread(thread));
    if (!threads.length) drawn.push(el("p", { class: "muted" }, t("No comments yet.")));
    if (settled.length) {
      const list = settled.map((thread) => this.drawThread(thread));
      drawn.push(el("details", {}, el("summary", {}, t("{n} resolved", { n: settled.length })), ...list));
    }
    this.threads.replaceChildren(...drawn);
    this.openThreads = open;
    this.mark();
  }

  drawThread(thread) {
    const place = el("button", { type: "button", class: "thread-place" }, this.nameOf(thread));
    place.addEventListener("click", () => this.goTo(thread));
    const said = this.comments.filter(({ id, parent }) => id === thread.id || parent === thread.id);
    const answer = el("button", { type: "button", class: "button small quiet" }, t("Answer"));
    answer.addEventListener("click", () => this.answerTo(thread));
    const isSettled = Boolean(thread.resolved_at);
    const resolve = el("button", { type: "button", class: "button small quiet" }, isSettled ? t("Take up again") : t("Resolve"));
    resolve.addEventListener("click", () => this.resolve(thread, !isSettled));
    return el(
      "article",
      { class: "thread", "aria-label": t("About {place}", { place: this.nameOf(thread) }) },
      place,
      ...said.map(drawComment),
      isSettled ? el("p", { class: "muted small" }, t("Resolved by {name}", { name: thread.resolved_by })) : null,
      el("p", { class: "row" }, answer, resolve),
    );
  }

  nameOf({ message_index = null, label_uid = "" }) {
    if (label_uid) {
      const label = this.store.label(label_uid);
      return label ? t("label {name}", { name: this.store.name(label_uid) }) : t("a label that is not here any more");
    }
    return message_index === null ? WHOLE : t("message {index}", { index: message_index });
  }

  goTo({ message_index, label_uid }) {
    if (label_uid && this.store.label(label_uid)) this.view.open(label_uid);
    else if (message_index !== null) this.messages.goTo(message_index);
  }

  // How many open threads there are, at the message or label they are about.
  mark() {
    const places = new Map();
    for (const thread of this.openThreads) {
      const place = this.placeOf(thread);
      if (place) places.set(place, [...(places.get(place) ?? []), thread]);
    }
    for (const [place, button] of this.counts) if (!places.has(place)) this.unmark(place, button);
    for (const [place, threads] of places) this.count(place, threads);
  }

  unmark(place, button) {
    button.remove();
    this.counts.delete(place);
  }

  placeOf({ message_index, label_uid }) {
    if (label_uid) return this.labels.cards.get(label_uid)?.head.parentElement;
    return this.messages.items[message_index]?.querySelector(".message-head");
  }

  // Other labels may have been renumbered by what was done to one.
  count(place, threads) {
    const text = threads.length === 1 ? t("1 comment") : t("{n} comments", { n: threads.length });
    const button = this.counts.get(place) ?? this.drawCount(place, threads[0]);
    setText(button, text);
    setAttribute(button, "aria-label", t("{text} on {place}", { text, place: this.nameOf(threads[0]) }));
  }

  drawCount(place, thread) {
    const button = el("button", { type: "button", class: "comment-count" });
    this.counts.set(place, button);
    place.append(button);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.goTo(thread);
      if (this.root.hidden) this.show();
      else this.open();
    });
    return button;
  }
}

function drawComment({ author, created_at, body }) {
  const when = `${dayOf(created_at)} ${clockTime(created_at).slice(0, 5)}`;
  return el(
    "div",
    { class: "comment" },
    el("p", { class: "comment-head small" }, el("strong", {}, author), " ", el("time", { class: "muted", datetime: created_at }, when)),
    el("p", { class: "comment-body" }, body),
  );
}
