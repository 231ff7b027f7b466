// What a pipeline suggests, below the annotator's own labels. The page holds none of it before the
// annotator's own first pass: it is asked for only then.

import { RequestFailed, send } from "./api.js";
import { drawDetails } from "./details.js";
import { byId, el, newUid } from "./dom.js";
import { wordOf } from "./labels.js";
import { citedMessages, headingOf } from "./layers.js";
import { t } from "./texts.js";

/** @import { Parts } from "./types.d.ts" */

const NOT_LOADED = t("The suggestions cannot be loaded now. Reload the page to try again.");

export class Suggestions {
  /** @param {Pick<Parts, "annotation" | "view" | "store" | "status" | "messages" | "autosave" | "keyOf" | "sayAtEmpty">} parts */
  constructor({ annotation, view, store, status, messages, autosave, keyOf, sayAtEmpty }) {
    this.urls = annotation.urls;
    this.view = view;
    this.store = store;
    this.status = status;
    this.messages = messages;
    this.autosave = autosave;
    this.keyOf = keyOf;
    this.sayAtEmpty = sayAtEmpty;
    this.root = byId("suggestions");
    this.list = byId("suggestion-list");
    this.state = annotation.suggestions.state;
    this.offers = []; // {key, id, layer, by, label}
    this.at = 0;
    if (this.state === "shown") this.load();
  }

  // First pass

  ask() {
    if (this.state !== "waiting") return this.sayNone();
    const { labels, state } = this.store;
    if (!labels.length && !state.nothing.length) return this.sayNotShown(t("label what you see first, or say “nothing here”."));
    const dialog = byId("first-pass-dialog");
    dialog.returnValue = "";
    const settle = () => dialog.returnValue === "done" && this.declare();
    dialog.addEventListener("close", settle, { once: true });
    return dialog.showModal();
  }

  // What was labeled so far is sent first: it is the result of the first pass.
  async declare() {
    if (!(await this.autosave.flush())) return this.sayNotShown(t("your last change is not saved yet."));
    try {
      this.take(await send("POST", this.urls.first_pass));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      return this.sayNotShown(error.message || t("the server cannot be reached. Try again."));
    }
    this.status.dismiss("suggestions");
    this.focus();
    if (!this.open.length) return this.status.say(t("There is no suggestion here."));
    return this.status.say(t("{n} suggested, below your labels", { n: this.open.length }));
  }

  sayNotShown(why) {
    this.status.notice("suggestions", { kind: "warn", text: t("Nothing is suggested yet: {why}", { why }) });
  }

  async load() {
    try {
      this.take(await send("GET", this.urls.suggestions));
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      this.status.notice("suggestions", { kind: "warn", text: NOT_LOADED });
    }
  }

  take({ state, suggestions }) {
    if (!this.root.isConnected) return; // another conversation is shown by now
    this.state = state;
    this.offers = suggestions.flatMap((suggestion) => this.labelsOf(suggestion));
    if (byId("first-pass")) byId("first-pass").hidden = state !== "waiting";
    this.view.render();
  }

  labelsOf({ id, layer: name, pipeline, pipeline_version, labels }) {
    const layer = this.view.layers.find((candidate) => candidate.name === name);
    const by = `${pipeline} ${pipeline_version}`;
    return labels.map((label) => ({ key: keyOf({ id, uid: label.uid }), id, layer, by, label }));
  }

  // What is left to decide in the layer that is shown

  get open() {
    const taken = new Set(this.store.labels.map(({ suggestion }) => suggestion && keyOf(suggestion)));
    return this.offers.filter(({ key, layer }) => layer === this.view.layer && !taken.has(key));
  }

  get current() {
    const { open } = this;
    this.at = Math.max(0, Math.min(this.at, open.length - 1));
    return open[this.at];
  }

  render() {
    const offered = this.offers.filter(({ layer }) => layer === this.view.layer);
    this.root.hidden = this.state !== "shown";
    if (this.root.hidden) return;
    const { current, open } = this;
    const drawn = [this.view.layer.name, offered.length, current?.key, ...open.map(({ key }) => key)].join(" ");
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    byId("suggestion-count").textContent = open.length;
    byId("suggestion-note").textContent = noteOf(offered, open);
    this.list.replaceChildren(...open.map((offer) => this.card(offer, offer === current)));
  }

  card(offer, isCurrent) {
    const { layer, label, by } = offer;
    const badges = layer.badges.filter((name) => label[name]).map((name) => el("span", { class: "badge" }, wordOf(layer.fields, name, label[name])));
    const head = el(
      "p",
      { class: "suggestion-head" },
      el("span", { class: "badge info" }, t("Suggested by {by}", { by })),
      el("strong", {}, headingOf(layer, label, this) || t("Untitled")),
      ...badges,
    );
    const details = isCurrent ? [drawDetails(layer.fields, label, this), this.buttons(offer)] : [];
    const card = el("li", { class: `suggestion${isCurrent ? " current" : ""}`, tabindex: "-1", data: { key: offer.key } }, head, ...details);
    card.addEventListener("click", () => this.go(this.open.indexOf(offer)));
    card.addEventListener("focusin", () => this.messages.highlight(citedMessages(layer, label)));
    card.addEventListener("focusout", () => this.messages.highlight(new Set()));
    return card;
  }

  buttons(offer) {
    const button = (text, action, run) => {
      const key = el("kbd", { data: { key: action }, "aria-hidden": "true" }, this.keyOf(action));
      const control = el("button", { type: "button", class: "button small" }, text, " ", key);
      control.addEventListener("click", (event) => {
        event.stopPropagation(); // the card is gone by then
        run();
      });
      return control;
    };
    return el(
      "p",
      { class: "row" },
      button(t("Accept"), "suggestion-accept", () => this.accept(offer)),
      button(t("Edit"), "suggestion-edit", () => this.edit(offer)),
    );
  }

  // How suggested labels call each other.
  name(uid) {
    const offer = this.offers.find(({ label }) => label.uid === uid);
    return offer ? offer.label[offer.layer.heading] : "";
  }

  heading() {
    return "";
  }

  go(at) {
    if (at < 0) return;
    this.at = at;
    this.view.render();
    this.focus();
  }

  step(by) {
    if (!this.current) return this.sayNone();
    const isThere = this.root.contains(document.activeElement);
    return this.go(Math.max(0, Math.min(this.open.length - 1, isThere ? this.at + by : this.at)));
  }

  focus() {
    const card = this.list.querySelector(".current");
    if (!card) return this.messages.move(0, { focus: true });
    card.focus({ preventScroll: true });
    return card.scrollIntoView({ block: "nearest" });
  }

  // Decisions

  accept(offer = this.current) {
    const label = this.takeOver(offer);
    if (!label) return;
    this.focus();
    this.status.say(t("Accepted as {name}", { name: this.store.name(label.uid) }));
  }

  edit(offer = this.current) {
    const label = this.takeOver(offer);
    if (label) this.view.open(label.uid);
  }

  takeOver(offer) {
    if (!offer) return this.sayNone();
    if (this.store.isNothing(offer.layer)) {
      const key = this.keyOf("nothing-here");
      return this.sayAtEmpty(t("“Nothing here” is set: press {key} to take it back first.", { key }));
    }
    const { id, layer, label } = offer;
    return this.store.add(layer, {
      ...this.valuesOf(offer),
      origin: "accepted",
      suggestion: { id, uid: label.uid },
    });
  }

  valuesOf({ layer, label }) {
    const values = layer.fields.map((field) => [field.name, this.valueOf(field, label[field.name])]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  // A suggested label points to other suggested ones: to the labels that were taken over from them.
  valueOf({ widget, many }, value) {
    if (widget === "phases") return value?.map((phase) => ({ ...phase, uid: newUid() }));
    if (widget !== "references" || !value) return structuredClone(value);
    const taken = (uid) => this.store.labels.find((label) => label.suggestion?.uid === uid)?.uid;
    const known = [value].flat().map(taken).filter(Boolean);
    return many ? known : known[0];
  }

  sayNone() {
    const isWaiting = this.state === "waiting";
    this.status.say(isWaiting ? t("Suggestions come after your own first pass.") : t("There is no suggestion here."));
  }
}

const keyOf = ({ id, uid }) => `${id}:${uid}`;

function noteOf(offered, open) {
  if (!offered.length) return t("Nothing is suggested in this layer.");
  return open.length ? "" : t("Every suggestion is taken over.");
}
