// The workspace: wires conversation, labels, keys and saving. The state is in the store; which
// layer is shown, which label is open, current or pointed at belongs to the page and is never saved.
// Each part gets what it needs when it is made; what parts see of the page is `View` in types.d.ts.

import { csrfToken } from "./api.js";
import { Comments } from "./comments.js";
import { setUpSkip } from "./dialogs.js";
import { byId, focused, readJson, setText, showIf, wireButtons } from "./dom.js";
import { Ending } from "./ending.js";
import { Hints } from "./hints.js";
import { History } from "./history.js";
import { Keys } from "./keys.js";
import { setUpKeyTable } from "./keytable.js";
import { Labeling } from "./labeling.js";
import { LabelList } from "./labels.js";
import { LayerTabs } from "./layertabs.js";
import { citedMessages, linkFieldOf, spansOf, wordsWithin } from "./layers.js";
import { MessageList } from "./messages.js";
import { askForNext, exchange } from "./next.js";
import { Panels } from "./panels.js";
import { Problems } from "./problems.js";
import { Saving } from "./saving.js";
import { Status } from "./status.js";
import { Store } from "./store.js";
import { Submitted } from "./submitted.js";
import { Suggestions } from "./suggestions.js";
import { t } from "./texts.js";
import { Words } from "./words.js";

/** @import { View } from "./types.d.ts" */

/** @implements {View} */
class Workspace {
  constructor() {
    this.annotation = readJson("annotation");
    this.layers = readJson("layers");
    this.layer = this.layers[0];
    this.readOnly = this.annotation.read_only;
    this.store = new Store(this.layers, this.annotation.payload, this.annotation);
    this.openUid = null;
    this.currentUid = this.inLayer[0]?.uid ?? null;
    /** @type {{ index: number | null, uid: string | null }} */
    this.pointed = { index: null, uid: null };
    const { annotation, store } = this;
    const view = this;
    this.life = new AbortController(); // ends what listens to the window or to the document
    const { signal } = this.life;
    const goOn = () => this.goOn();
    const keyOf = (action) => this.keys.keyOf(action);
    const sayAtEmpty = (text) => this.labeling.sayAtEmpty(text);
    const status = (this.status = new Status());
    const problems = (this.problems = new Problems({ store, status }));
    const hints = (this.hints = new Hints(annotation));
    const messages = (this.messages = this.makeMessages());
    const labels = (this.labels = this.makeLabels());
    this.labeling = new Labeling({ view, store, status, messages, labels, problems, keyOf });
    this.words = new Words({ view, messages, status, start: (values) => this.labeling.begin(values), signal });
    this.tabs = new LayerTabs(this.layers, (layer) => this.showLayer(layer));
    const showProblems = (refused) => this.ending.listProblems(refused);
    const showHints = (sent) => {
      hints.replace(sent);
      this.render();
    };
    const saving = (this.saving = new Saving({ annotation, store, status, showHints, showProblems, goOn, signal }));
    this.ending = new Ending({ view, store, status, saving, problems, sayAtEmpty });
    this.submitted = new Submitted(status);
    this.keys = new Keys(readJson("keys"), this.actions(), annotation.user, signal);
    const { autosave } = saving;
    this.suggestions = new Suggestions({ annotation, view, store, status, messages, autosave, keyOf, sayAtEmpty });
    this.store.onChange(() => problems.forgetMissing());
    this.store.onChange(() => this.render());
    this.store.onChange(() => this.withdrawUndo());
    this.panels = this.makePanels();
    this.help = setUpKeyTable(this.keys);
    this.askSkip = setUpSkip((reason) => this.ending.skip(reason));
    this.wireButtons();
    this.render();
  }

  get inLayer() {
    return this.store.inLayer(this.layer);
  }

  get form() {
    return this.labels.form;
  }

  makeMessages() {
    return new MessageList({
      root: byId("conversation"),
      readOnly: this.readOnly,
      signal: this.life.signal,
      handlers: {
        link: (index) => this.labeling.linkTapped(index),
        point: (index) => this.pointAt({ index }),
        openLabel: (uid) => this.open(uid),
      },
    });
  }

  makeLabels() {
    const { store } = this;
    const form = {
      edit: (field, value) => this.labeling.edit(field, value),
      endEdit: () => store.endEdit(),
      unlink: (index) => this.labeling.link(index),
      quote: (index) => this.messages.quote(index),
      labelsOf: (names) => this.labeling.offers(names),
      labelOf: (uid) => store.label(uid),
      askWords: (within, put) => this.words.ask(within, put),
      target: () => this.render(),
      hasHints: this.hints.isOn,
    };
    const handlers = {
      open: (uid) => this.open(uid),
      close: () => this.close(),
      remove: (uid) => this.labeling.remove(uid),
      point: (uid) => this.pointAt({ uid }),
      current: (uid) => this.setCurrent(uid),
      form,
    };
    return new LabelList({ root: byId("labels"), store, readOnly: this.readOnly, handlers });
  }

  makePanels() {
    const { annotation, store, status, messages, labels, readOnly } = this;
    const { urls } = annotation;
    const { autosave } = this.saving;
    const close = () => this.panels.show(null);
    return new Panels({
      history: new History({ root: byId("panel-history"), urls, readOnly, store, status, autosave, close }),
      comments: new Comments({
        root: byId("panel-comments"),
        store,
        status,
        autosave,
        messages,
        labels,
        view: this,
        show: () => this.panels.show("comments"),
      }),
    });
  }

  actions() {
    const { labeling, ending } = this;
    const reading = {
      "message-next": () => this.move(1),
      "message-previous": () => this.move(-1),
      "message-first": () => this.messages.goTo(0),
      "message-last": () => this.messages.goTo(this.messages.items.length - 1),
      guidelines: () => this.panels.toggle("guidelines"),
      history: () => this.panels.toggle("history"),
      comments: () => this.panels.toggle("comments"),
      "layer-next": () => this.tabs.step(1),
      "layer-previous": () => this.tabs.step(-1),
      "label-next": () => this.step(1),
      "label-previous": () => this.step(-1),
      "label-edit": () => this.open(this.currentUid),
      "label-unfinished": () => this.openUnfinished(),
      close: () => this.escape(),
      undo: () => this.travel("undo"),
      help: () => this.help(),
    };
    const writing = {
      link: () => labeling.link(this.messages.currentIndex),
      words: () => this.words.mark(),
      "label-new": () => labeling.begin(),
      "label-duplicate": () => labeling.duplicate(),
      "label-delete": () => labeling.remove(this.openUid ?? this.currentUid),
      choose: (digit) => labeling.chooseByDigit(digit),
      write: () => this.form?.focus(),
      "first-pass": () => this.suggestions.ask(),
      "suggestion-next": () => this.suggestions.step(1),
      "suggestion-previous": () => this.suggestions.step(-1),
      "suggestion-accept": () => this.suggestions.accept(),
      "suggestion-edit": () => this.suggestions.edit(),
      "nothing-here": (key) => (this.form?.hasZero(key) ? labeling.chooseByDigit(key) : labeling.toggleEmpty()),
      skip: () => this.askSkip(),
      submit: () => ending.submit(),
      save: () => this.saving.now(),
      redo: () => this.travel("redo"),
    };
    const refuse = () => this.status.say(t("This cannot be changed."));
    const refused = Object.fromEntries(Object.keys(writing).map((name) => [name, refuse]));
    return { ...reading, ...(this.readOnly ? refused : writing) };
  }

  wireButtons() {
    const actions = this.actions();
    wireButtons(actions);
    byId("empty").addEventListener("change", () => this.labeling.toggleEmpty());
    byId("next-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.goOn();
    });
    byId("reopen")?.addEventListener("click", () => this.submitted.reopen(this.annotation.urls));
  }

  openUnfinished() {
    const label = this.labels.unfinishedAfter(this.openUid ?? this.currentUid);
    if (!label) return this.status.say(t("No label lacks a field."));
    this.open(label.uid, { focus: false });
    return this.form?.focus(this.labels.openFieldOf(label));
  }

  // A change after which a label is opened, which draws the page.
  drawnOnce(change) {
    this.isHeld = true;
    try {
      return change();
    } finally {
      this.isHeld = false;
    }
  }

  render() {
    if (this.isHeld || this.life.signal.aborted) return;
    const { store, problems } = this;
    if (!this.isHere(this.currentUid)) this.currentUid = this.inLayer.at(-1)?.uid ?? null;
    if (!this.isHere(this.openUid)) this.openUid = null;
    const { layer, openUid, currentUid } = this;
    this.labels.render({ layer, openUid, currentUid, problems, hints: this.hints });
    this.messages.render({ citing: store.citing, nameOf: (uid) => store.name(uid), linked: this.linked() });
    this.messages.paint("words", this.inLayer.flatMap((label) => spansOf(layer, label)));
    this.showPointed();
    this.tabs.render(store, layer, problems);
    this.suggestions.render();
    if (!this.readOnly) showIf(byId("unfinished"), Boolean(this.labels.unfinishedAfter(null)));
    this.showHowToStart();
    byId("empty").checked = store.isNothing(layer);
    if (this.inLayer.length && !byId("empty-error").dataset.asked) setText(byId("empty-error"), "");
  }

  // What an empty layer says of its keys is true of this layer.
  showHowToStart() {
    showIf(byId("no-labels"), !this.inLayer.length);
    if (this.readOnly) return;
    showIf(byId("how-to-link"), Boolean(linkFieldOf(this.layer)));
    showIf(byId("how-to-select"), wordsWithin(this.layer) === "message");
  }

  // What a notice offers to undo is the last change, as long as it is the last.
  withdrawUndo() {
    for (const id of ["deleted", "restored"]) this.status.dismiss(id);
  }

  isHere(uid) {
    return this.store.layerOf(uid) === this.layer;
  }

  linked() {
    const label = this.store.label(this.openUid);
    const inPhase = this.form?.links?.linked();
    if (inPhase) return new Set(inPhase);
    return label ? citedMessages(this.layer, label) : new Set();
  }

  // Messages

  move(step) {
    const isTyping = focused().matches("input, textarea, select");
    this.messages.move(step, { focus: !isTyping });
  }

  // What the pointer or the focus is on shows its other side: a message its labels, a label its
  // messages.
  /** @param {{ index?: number | null, uid?: string | null }} target */
  pointAt({ index = null, uid = null }) {
    this.pointed = { index, uid };
    this.showPointed();
  }

  showPointed() {
    const { index, uid } = this.pointed;
    const label = this.store.label(uid);
    const layer = label && this.store.layerOf(uid);
    this.labels.highlight(new Set(this.store.citing.get(index)));
    this.messages.highlight(label ? citedMessages(layer, label) : new Set());
    this.messages.paint("words-pointed", label ? spansOf(layer, label) : []);
  }

  // Layers and labels

  showLayer(layer) {
    if (this.layer === layer) return;
    this.layer = layer;
    this.openUid = null;
    this.currentUid = this.inLayer[0]?.uid ?? null;
    this.render();
    this.status.say(`${layer.title}: ${this.inLayer.length}`);
  }

  open(uid, { focus = true, reveal = true } = {}) {
    if (!uid) return this.status.say(t("There is no label yet: {key} starts one.", { key: this.keys.keyOf("label-new") }));
    const layer = this.store.layerOf(uid);
    if (!layer) return undefined;
    this.layer = layer;
    this.openUid = uid;
    this.currentUid = uid;
    this.render();
    if (reveal) this.labels.reveal(uid);
    if (!focus) return undefined;
    return this.readOnly ? this.labels.focusHead(uid) : this.form.focus();
  }

  close() {
    const uid = this.openUid;
    this.openUid = null;
    this.render();
    this.labels.focusHead(uid);
  }

  // Escape leaves the text field, so that single keys work; pressed again it closes the label.
  escape() {
    if (focused().matches("input, textarea, select")) this.messages.move(0, { focus: true });
    else if (this.openUid) this.close();
    else if (this.panels.current) this.panels.show(null);
    else return false;
    return true;
  }

  setCurrent(uid) {
    this.currentUid = uid;
    this.labels.setCurrent(uid);
  }

  step(by) {
    const at = this.inLayer.findIndex((label) => label.uid === this.currentUid);
    const next = this.inLayer[Math.min(this.inLayer.length - 1, Math.max(0, at + by))];
    if (!next) return;
    const opens = this.openUid && this.openUid !== next.uid;
    if (opens) this.open(next.uid, { focus: false });
    this.setCurrent(next.uid);
    this.labels.focusHead(next.uid, { preventScroll: opens }); // it has been scrolled to
  }

  // Before the first change of this page comes the submission of the page before.
  travel(direction) {
    if (this.readOnly && this.annotation.urls.reopen) return this.submitted.reopen(this.annotation.urls);
    if (direction === "undo" && !this.store.past.length && this.submitted.undo()) return undefined;
    const before = this.store.payload;
    if (!this.store[direction]()) return this.status.say(direction === "undo" ? t("Nothing to undo") : t("Nothing to redo"));
    this.showChanged(before);
    return this.status.say(direction === "undo" ? t("Undone") : t("Done again"));
  }

  // The next conversation takes the place of this one. What may be lost by it is asked by the browser.
  async goOn() {
    const form = byId("next-form");
    form.elements.csrfmiddlewaretoken.value = csrfToken();
    if (this.saving.mayLose) return form.submit();
    this.end();
    const page = await askForNext(form, this.annotation);
    if (page) begin(page);
    return undefined;
  }

  end() {
    this.saving.autosave.leave();
    this.status.end();
    this.life.abort();
  }

  // What the title of a new page says to those who listen.
  sayWhere() {
    const submitted = byId("notice-submitted")?.firstChild.textContent;
    const place = byId("position").labels[0].textContent;
    this.status.announce([submitted, `${this.annotation.conversation},`, place].filter(Boolean).join(" "));
  }

  // What was undone in a layer out of sight comes into view.
  showChanged(before) {
    const now = this.store.payload;
    const isSame = ({ key }) => before[key].length === now[key].length && now[key].every((label, at) => label === before[key][at]);
    const changed = this.layers.filter((layer) => !isSame(layer));
    if (changed.length && !changed.includes(this.layer)) this.showLayer(changed[0]);
  }
}

let workspace = new Workspace();
if (focused() === document.body) byId("main").focus({ preventScroll: true }); // as with each conversation that follows

function begin(page) {
  try {
    exchange(page);
    workspace = new Workspace();
    workspace.sayWhere();
  } catch (error) {
    location.reload();
    throw error;
  }
}

// Going back in the browser's history is a new page, with what is stored by then; so is what somebody went on to while
// this one was loading.
function follow() {
  if (location.pathname !== workspace.annotation.urls.workspace) location.reload();
}

addEventListener("popstate", follow);
follow();
