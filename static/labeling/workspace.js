// The workspace: wires conversation, labels, keys and saving. The state is in the store; which
// label is open, current or hovered is the page's own and is never saved.

import { ActiveTime } from "./clock.js";
import { setUpHelp, setUpSkip } from "./dialogs.js";
import { byId, readJson } from "./dom.js";
import { Keys } from "./keys.js";
import { LabelList } from "./labels.js";
import { MessageList } from "./messages.js";
import { Panels } from "./panels.js";
import { Saving } from "./saving.js";
import { Status } from "./status.js";
import { Store } from "./store.js";

const NOT_SKIPPED = {
  "signed-out": "You are signed out: sign in again in another tab, then skip again.",
  unreachable: "The server cannot be reached. Nothing was skipped; try again.",
};

class Workspace {
  constructor() {
    this.annotation = readJson("annotation");
    this.fields = readJson("fields");
    this.readOnly = this.annotation.read_only;
    this.store = new Store(this.annotation.payload, this.annotation.empty);
    this.openUid = null;
    this.currentUid = this.store.labels[0]?.uid ?? null;
    this.pointed = { index: null, uid: null };
    this.problems = {}; // uid -> field -> message, as the server said it
    this.status = new Status();
    this.messages = this.makeMessages();
    this.labels = this.makeLabels();
    this.saving = this.makeSaving();
    this.store.onChange(() => this.render());
    this.panels = new Panels(this);
    this.keys = new Keys(readJson("keys"), this.actions());
    this.help = setUpHelp(this.keys);
    this.askSkip = setUpSkip((reason) => this.skip(reason));
    this.wireButtons();
    this.render();
  }

  makeMessages() {
    return new MessageList({
      root: byId("conversation"),
      readOnly: this.readOnly,
      handlers: {
        link: (index) => this.link(index),
        point: (index) => this.pointAt({ index }),
        openLabel: (uid) => this.open(uid),
      },
    });
  }

  makeLabels() {
    const form = {
      edit: (field, value) => this.edit(field, value),
      endEdit: () => this.store.endEdit(),
      unlink: (index) => this.link(index),
      quote: (index) => this.messages.quote(index),
    };
    const handlers = {
      open: (uid) => this.open(uid),
      close: () => this.close(),
      remove: (uid) => this.remove(uid),
      point: (uid) => this.pointAt({ uid }),
      current: (uid) => this.setCurrent(uid),
      form,
    };
    return new LabelList({
      root: byId("labels"),
      fields: this.fields,
      readOnly: this.readOnly,
      handlers,
    });
  }

  makeSaving() {
    const { annotation, fields, store, status } = this;
    const activeTime = new ActiveTime(annotation.active_seconds);
    const showProblems = (problems) => this.markProblems(problems);
    return new Saving({ annotation, fields, store, status, activeTime, showProblems });
  }

  actions() {
    const reading = {
      "message-next": () => this.move(1),
      "message-previous": () => this.move(-1),
      guidelines: () => this.panels.toggle("guidelines"),
      history: () => this.panels.toggle("history"),
      comments: () => this.panels.toggle("comments"),
      "label-next": () => this.step(1),
      "label-previous": () => this.step(-1),
      "label-edit": () => this.open(this.currentUid),
      close: () => this.escape(),
      help: () => this.help(),
    };
    const writing = {
      link: () => this.link(this.messages.currentIndex),
      "label-new": () => this.add(),
      "label-delete": () => this.remove(this.openUid ?? this.currentUid),
      choose: (digit) => this.choose("type", Number(digit) - 1),
      priority: () => this.cycle("priority"),
      confidence: () => this.cycle("confidence"),
      write: () => this.form()?.focus(),
      "nothing-here": () => this.toggleEmpty(),
      skip: () => this.askSkip(),
      submit: () => this.submit(),
      save: () => this.saving.now(),
      undo: () => this.travel("undo"),
      redo: () => this.travel("redo"),
    };
    const refuse = () => this.status.say("This can no longer be changed.");
    const refused = Object.fromEntries(Object.keys(writing).map((name) => [name, refuse]));
    return { ...reading, ...(this.readOnly ? refused : writing) };
  }

  wireButtons() {
    const actions = this.actions();
    for (const button of document.querySelectorAll("[data-action]")) {
      button.addEventListener("click", () => actions[button.dataset.action]());
    }
    byId("empty").addEventListener("change", () => this.toggleEmpty());
  }

  render() {
    const { store, openUid, problems } = this;
    const linked = new Set(store.label(openUid)?.source_messages ?? []);
    if (!store.label(this.currentUid)) this.currentUid = store.labels.at(-1)?.uid ?? null;
    if (!store.label(openUid)) this.openUid = null;
    const { labels } = store;
    this.labels.render({ labels, openUid: this.openUid, currentUid: this.currentUid, problems });
    this.messages.render({ labels, linked });
    this.showPointed();
    byId("label-count").textContent = labels.length;
    byId("no-labels").hidden = labels.length > 0;
    byId("empty").checked = store.state.empty;
    if (labels.length && !byId("empty-error").dataset.asked) byId("empty-error").textContent = "";
  }

  // Messages

  move(step) {
    const isTyping = document.activeElement.matches("input, textarea, select");
    this.messages.move(step, { focus: !isTyping });
  }

  goToMessage(index) {
    this.messages.move(index - this.messages.currentIndex, { focus: true });
  }

  link(index) {
    if (!this.openUid) return this.start({ source_messages: [index] });
    const isLinked = this.store.toggleLink(this.openUid, index);
    this.forgetProblem("source_messages");
    const { id } = this.store.label(this.openUid);
    this.status.say(`Message ${index} ${isLinked ? "linked to" : "unlinked from"} ${id}`);
  }

  // What the pointer or the focus is on shows its other side: a message its labels, a label its
  // messages.
  pointAt({ index = null, uid = null }) {
    this.pointed = { index, uid };
    this.showPointed();
  }

  showPointed() {
    const { index, uid } = this.pointed;
    const citing = index === null ? [] : this.store.citing(index);
    this.labels.highlight(new Set(citing.map((label) => label.uid)));
    this.messages.highlight(new Set(this.store.label(uid)?.source_messages ?? []));
  }

  // Labels

  start(values) {
    if (this.store.state.empty) {
      this.sayEmptyStands();
      return null;
    }
    const label = this.store.add(values);
    this.open(label.uid, { focus: false });
    this.status.say(`${label.id} started`);
    return label;
  }

  add() {
    if (this.start()) this.form().focus();
  }

  open(uid, { focus = true } = {}) {
    if (!uid) return this.status.say("There is no label yet: press n for a new one.");
    this.openUid = uid;
    this.currentUid = uid;
    this.render();
    this.labels.reveal(uid);
    if (!focus) return undefined;
    return this.readOnly ? this.labels.focusHead(uid) : this.form().focus();
  }

  close() {
    const uid = this.openUid;
    this.openUid = null;
    this.render();
    this.labels.focusHead(uid);
  }

  // Escape leaves the text field, so that single keys work; pressed again it closes the label.
  escape() {
    const focused = document.activeElement;
    if (focused.matches("input, textarea, select")) this.messages.move(0, { focus: true });
    else if (this.openUid) this.close();
    else return false;
    return true;
  }

  setCurrent(uid) {
    if (this.currentUid === uid) return;
    this.currentUid = uid;
    this.render();
  }

  step(by) {
    const { labels } = this.store;
    const at = labels.findIndex((label) => label.uid === this.currentUid);
    const next = labels[Math.min(labels.length - 1, Math.max(0, at + by))];
    if (!next) return;
    if (this.openUid && this.openUid !== next.uid) this.open(next.uid, { focus: false });
    this.setCurrent(next.uid);
    this.labels.focusHead(next.uid);
  }

  remove(uid) {
    const label = this.store.label(uid);
    if (!label) return;
    this.store.remove(uid);
    this.messages.move(0, { focus: true });
    const undo = () => {
      this.store.undo();
      this.status.dismiss("deleted");
      this.labels.focusHead(uid);
    };
    this.status.notice("deleted", { text: `${label.id} deleted.`, actions: [["Undo", undo]] });
  }

  form() {
    return this.labels.form;
  }

  edit(field, value) {
    this.forgetProblem(field, { redraw: false });
    this.store.edit(this.openUid, field, value);
  }

  choose(field, position) {
    const value = this.form()?.choices(field)[position];
    if (value === undefined) return this.status.say("Open a label first: n starts one, e edits.");
    this.edit(field, value);
    this.store.endEdit();
    return this.status.say(`${field}: ${value}`);
  }

  cycle(field) {
    const values = this.form()?.choices(field) ?? [];
    const at = values.indexOf(this.store.label(this.openUid)?.[field]);
    return this.choose(field, (at + 1) % (values.length || 1));
  }

  travel(direction) {
    if (!this.store[direction]()) return this.status.say(`Nothing to ${direction}`);
    this.status.dismiss("deleted");
    return this.status.say(direction === "undo" ? "Undone" : "Done again");
  }

  // "Nothing here" is an answer of its own and cannot stand beside labels.

  toggleEmpty() {
    const empty = !this.store.state.empty;
    if (empty && this.store.labels.length) {
      byId("empty").checked = false;
      return this.sayAtEmpty("There are labels: delete them before you say “nothing here”.");
    }
    this.sayAtEmpty("");
    this.store.setEmpty(empty);
    return this.status.say(empty ? "Answer: nothing here" : "“Nothing here” taken back");
  }

  sayEmptyStands() {
    this.sayAtEmpty("“Nothing here” is set: press 0 to take it back before you label.");
  }

  sayAtEmpty(text) {
    const line = byId("empty-error");
    line.textContent = text;
    line.dataset.asked = text ? "yes" : "";
    if (text) this.status.announce(text);
  }

  // The end

  async submit() {
    this.busy(true);
    this.status.dismiss("problems");
    try {
      await this.saving.submit();
    } catch (error) {
      this.busy(false);
      this.sayNotDone("submitted", error);
    }
  }

  async skip(reason) {
    try {
      await this.saving.skip(reason);
    } catch (error) {
      if (!error.kind) throw error;
      const isReached = error.kind === "refused" || error.kind === "conflict";
      throw new Error(isReached ? error.message : NOT_SKIPPED[error.kind]);
    }
  }

  sayNotDone(what, error) {
    if (error.kind === "conflict") return;
    if (!error.kind) throw error;
    if (error.kind === "refused") return this.showProblems(error.details?.problems ?? [], error);
    const reason =
      error.kind === "signed-out"
        ? "you are signed out. Sign in again in another tab, then submit again."
        : "the server cannot be reached. Your work is kept; try again.";
    this.status.notice("problems", { kind: "bad", text: `Not ${what}: ${reason}` });
  }

  busy(isBusy) {
    for (const button of document.querySelectorAll("[data-action='submit']")) {
      button.disabled = isBusy;
    }
  }

  // What the server found wrong: at the fields, and the rest in the notice.
  showProblems(problems, error) {
    const general = this.markProblems(problems);
    this.status.notice("problems", { kind: "bad", text: [error.message, ...general].join(" ") });
    this.goToFirstProblem();
  }

  markProblems(problems) {
    this.problems = {};
    const general = [];
    for (const { path, message } of problems) {
      const { uid, field } = this.store.locate(path);
      if (uid) (this.problems[uid] ??= {})[field] ??= message;
      else if (path === "empty") this.sayAtEmpty(message);
      else general.push(message);
    }
    this.render();
    return general;
  }

  goToFirstProblem() {
    const uid = this.store.labels.find((label) => this.problems[label.uid])?.uid;
    if (!uid) return byId("empty-error").textContent ? byId("empty").focus() : undefined;
    this.open(uid, { focus: false });
    const first = this.fields.find((field) => this.problems[uid][field.name]);
    return this.form().focus(first?.name);
  }

  forgetProblem(field, { redraw = true } = {}) {
    const problems = this.problems[this.openUid];
    if (!problems?.[field]) return;
    delete problems[field];
    if (!Object.keys(problems).length) delete this.problems[this.openUid];
    if (!Object.keys(this.problems).length) this.status.dismiss("problems");
    if (redraw) this.render();
  }
}

new Workspace();
