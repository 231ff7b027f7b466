// What a pipeline suggests, below the annotator's own labels. The page holds none of it before the
// annotator's own first pass: it is asked for only then.

import { send } from "./api.js";
import { drawDetails } from "./details.js";
import { byId, el, newUid } from "./dom.js";
import { wordOf } from "./labels.js";
import { citedMessages, headingOf } from "./layers.js";
import { t } from "./texts.js";

const NOT_LOADED = t("The suggestions cannot be loaded now. Reload the page to try again.");

export class Suggestions {
  constructor(page) {
    Object.assign(this, { page, store: page.store, status: page.status });
    this.root = byId("suggestions");
    this.list = byId("suggestion-list");
    this.state = page.annotation.suggestions.state;
    this.found = []; // {key, id, layer, pipeline, label}
    this.at = 0;
    if (this.state === "shown") this.load();
    this.store.onChange(() => this.keepDismissed());
  }

  // First pass

  ask() {
    if (this.state !== "waiting") return this.sayNone();
    const { labels, state } = this.store;
    if (!labels.length && !state.empty) return this.sayNotShown(t("label what you see first, or say “nothing here”."));
    const dialog = byId("first-pass-dialog");
    dialog.returnValue = "";
    const settle = () => dialog.returnValue === "done" && this.declare();
    dialog.addEventListener("close", settle, { once: true });
    return dialog.showModal();
  }

  // What was found so far is sent first: it is what the first pass found.
  async declare() {
    const { autosave } = this.page.saving;
    if (!(await autosave.flush())) return this.sayNotShown(t("your last change is not saved yet."));
    try {
      this.take(await send("POST", this.page.annotation.urls.first_pass));
    } catch (error) {
      if (!error.kind) throw error;
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
      this.take(await send("GET", this.page.annotation.urls.suggestions));
    } catch (error) {
      if (!error.kind) throw error;
      this.status.notice("suggestions", { kind: "warn", text: NOT_LOADED });
    }
  }

  take({ state, suggestions, dismissed }) {
    this.state = state;
    this.found = suggestions.flatMap((one) => this.labelsOf(one));
    this.store.knowDismissed(dismissed.map(keyOf));
    this.kept = this.store.state.dismissed;
    if (byId("first-pass")) byId("first-pass").hidden = state !== "waiting";
    this.page.render();
  }

  labelsOf({ id, layer: name, pipeline, pipeline_version, labels }) {
    const layer = this.page.layers.find((one) => one.name === name);
    const by = `${pipeline} ${pipeline_version}`;
    return labels.map((label) => ({ key: keyOf({ id, uid: label.uid }), id, layer, by, label }));
  }

  // What is left to decide in the layer that is shown

  get open() {
    const settled = new Set(this.store.state.dismissed);
    for (const { suggestion } of this.store.labels) if (suggestion) settled.add(keyOf(suggestion));
    return this.found.filter(({ key, layer }) => layer === this.page.layer && !settled.has(key));
  }

  get current() {
    const { open } = this;
    this.at = Math.max(0, Math.min(this.at, open.length - 1));
    return open[this.at];
  }

  render() {
    const made = this.found.filter(({ layer }) => layer === this.page.layer);
    this.root.hidden = this.state !== "shown";
    if (this.root.hidden) return;
    const { current, open } = this;
    const drawn = [this.page.layer.name, made.length, current?.key, ...open.map(({ key }) => key)].join(" ");
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    byId("suggestion-count").textContent = open.length;
    byId("suggestion-note").textContent = noteOf(made, open);
    this.list.replaceChildren(...open.map((one) => this.card(one, one === current)));
  }

  card(one, isCurrent) {
    const { layer, label, by } = one;
    const badges = layer.badges.filter((name) => label[name]).map((name) => el("span", { class: "badge" }, wordOf(layer.fields, name, label[name])));
    const head = el(
      "p",
      { class: "suggestion-head" },
      el("span", { class: "badge info" }, t("Suggested by {by}", { by })),
      el("strong", {}, headingOf(layer, label, this) || t("Untitled")),
      ...badges,
    );
    const details = isCurrent ? [drawDetails(layer.fields, label, this), this.buttons(one)] : [];
    const card = el("li", { class: `suggestion${isCurrent ? " current" : ""}`, tabindex: "-1", data: { key: one.key } }, head, ...details);
    card.addEventListener("click", () => this.go(this.open.indexOf(one)));
    card.addEventListener("focusin", () => this.page.messages.highlight(citedMessages(layer, label)));
    card.addEventListener("focusout", () => this.page.messages.highlight(new Set()));
    return card;
  }

  buttons(one) {
    const button = (text, action, run) => {
      const key = el("kbd", { data: { key: action }, "aria-hidden": "true" }, this.page.keys?.keyOf(action) ?? "");
      const made = el("button", { type: "button", class: "button small" }, text, " ", key);
      made.addEventListener("click", (event) => {
        event.stopPropagation(); // the card is gone by then
        run();
      });
      return made;
    };
    return el(
      "p",
      { class: "row" },
      button(t("Accept"), "suggestion-accept", () => this.accept(one)),
      button(t("Edit"), "suggestion-edit", () => this.edit(one)),
      button(t("Dismiss"), "suggestion-dismiss", () => this.dismiss(one)),
    );
  }

  // How suggested labels call each other.
  name(uid) {
    const one = this.found.find(({ label }) => label.uid === uid);
    return one ? one.label[one.layer.heading] : "";
  }

  heading() {
    return "";
  }

  go(at) {
    if (at < 0) return;
    this.at = at;
    this.page.render();
    this.focus();
  }

  step(by) {
    if (!this.current) return this.sayNone();
    const isThere = this.root.contains(document.activeElement);
    return this.go(Math.max(0, Math.min(this.open.length - 1, isThere ? this.at + by : this.at)));
  }

  focus() {
    const card = this.list.querySelector(".current");
    if (!card) return this.page.messages.move(0, { focus: true });
    card.focus({ preventScroll: true });
    return card.scrollIntoView({ block: "nearest" });
  }

  // Decisions

  accept(one = this.current) {
    const label = this.takeOver(one);
    if (!label) return;
    this.focus();
    this.status.say(t("Accepted as {name}", { name: this.store.name(label.uid) }));
  }

  edit(one = this.current) {
    const label = this.takeOver(one);
    if (label) this.page.open(label.uid);
  }

  dismiss(one = this.current) {
    if (!one) return this.sayNone();
    this.store.dismiss(one.key);
    this.focus();
    return this.status.say(t("Suggestion dismissed"));
  }

  takeOver(one) {
    if (!one) return this.sayNone();
    if (this.store.state.empty) {
      const key = this.page.keys.keyOf("nothing-here");
      return this.page.labelling.sayAtEmpty(t("“Nothing here” is set: press {key} to take it back first.", { key }));
    }
    const { id, layer, label } = one;
    return this.store.add(layer, {
      ...this.valuesOf(one),
      origin: "accepted",
      suggestion: { id, uid: label.uid },
    });
  }

  valuesOf({ layer, label }) {
    const values = layer.fields.map((field) => [field.name, this.valueOf(field, label[field.name])]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  // A suggested label points to other suggested ones: to what was made of them here.
  valueOf({ widget, many }, value) {
    if (widget === "phases") return value?.map((phase) => ({ ...phase, uid: newUid() }));
    if (widget !== "references" || !value) return structuredClone(value);
    const mine = [value].flat().map((uid) => this.store.labels.find((one) => one.suggestion?.uid === uid)?.uid);
    const known = mine.filter(Boolean);
    return many ? known : known[0];
  }

  sayNone() {
    const isWaiting = this.state === "waiting";
    this.status.say(isWaiting ? t("Suggestions come after your own first pass.") : t("There is no suggestion here."));
  }

  // Dismissing can be undone, so the list follows the store; the newest one counts.
  async keepDismissed() {
    const { dismissed } = this.store.state;
    if (this.state !== "shown" || dismissed === this.kept) return;
    this.kept = dismissed;
    const body = { dismissed: dismissed.map(sourceOf) };
    try {
      await send("PUT", this.page.annotation.urls.suggestions, body);
    } catch (error) {
      if (!error.kind) throw error;
      this.kept = null; // sent again with the next change
    }
  }
}

const keyOf = ({ id, uid }) => `${id}:${uid}`;

function sourceOf(key) {
  const at = key.indexOf(":");
  return { id: Number(key.slice(0, at)), uid: key.slice(at + 1) };
}

function noteOf(made, open) {
  if (!made.length) return t("Nothing is suggested in this layer.");
  return open.length ? "" : t("Every suggestion is decided. Undo brings the last one back.");
}
