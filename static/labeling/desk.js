// Labels laid out for somebody who decides about them: one card for each cluster, in it everybody's
// version side by side, and what was chosen. Adjudication and review both work on it.

import { byId, focused, newUid } from "./dom.js";
import { ClusterCard } from "./clusters.js";
import { citedMessages, fieldOf, idOf, spansOf, toggled } from "./layers.js";
import { MessageList } from "./messages.js";
import { Store } from "./store.js";
import { t } from "./texts.js";
import { Words } from "./words.js";

/** @import { Cluster, Layer, Payload } from "./types.d.ts" */

export class Desk {
  /**
   * `layers` are all that labels may be of or refer to; `settled` holds, by key, what stands and is
   * not decided here. `onChange()` runs after every choice.
   *
   * @param {{
   *   clusters: Cluster[],
   *   layers: Layer[],
   *   settled?: Payload,
   *   readOnly: boolean,
   *   rejectKey?: string,
   *   mayAdd?: boolean,
   *   onChange: () => void,
   * }} parts
   */
  constructor({ clusters, layers, settled = {}, readOnly, rejectKey = "x", mayAdd = false, onChange }) {
    this.clusters = clusters;
    this.layers = layers;
    this.settled = settled;
    this.readOnly = readOnly;
    this.rejectKey = rejectKey;
    this.mayAdd = mayAdd;
    this.onChange = onChange;
    this.currentAt = 0;
    /** @type {number | null} */
    this.editing = null; // the place of the cluster whose form is open
    this.named = false;
    this.messages = this.makeMessages();
    this.words = new Words({ view: this, messages: this.messages, status: { say }, start: (values) => this.start(values) });
    this.store = this.labelsInHand();
    this.cards = clusters.map((cluster, at) => new ClusterCard(cluster, at, this.handlers(at)));
    byId("clusters").append(...this.cards.map((card) => card.root));
  }

  makeMessages() {
    const handlers = { link: (index) => this.link(index), point: () => {}, openLabel: () => {} };
    return new MessageList({ root: byId("conversation"), readOnly: this.readOnly, handlers });
  }

  handlers(at) {
    return {
      readOnly: this.readOnly,
      rejectKey: this.rejectKey,
      store: () => this.store,
      show: () => this.go(at),
      choose: (label) => this.choose(label, at),
      edit: () => this.edit(at),
      settle: (field, value) => this.settle(field, value, at),
      form: {
        edit: (field, value) => this.change({ [field]: value }),
        endEdit: () => {},
        unlink: (index) => this.link(index),
        quote: (index) => this.messages.quote(index),
        labelsOf: (names) => this.offers(names),
        labelOf: (uid) => this.store.label(uid),
        askWords: (within, put) => this.words.ask(within, put),
        target: () => this.renderMessages(),
      },
    };
  }

  // What labels are called and headed, as far as it is decided.
  labelsInHand() {
    const labelsOf = (layer) =>
      this.clusters.filter(({ layer: of, chosen }) => of === layer && chosen !== null).map(({ chosen, label }) => chosen ?? label);
    const payload = this.layers.map((layer) => [layer.key, this.settled[layer.key] ?? labelsOf(layer)]);
    return new Store(this.layers, Object.fromEntries(payload));
  }

  // What a field may point to.
  offers(names) {
    return this.layers
      .filter(({ name }) => names.includes(name))
      .flatMap((layer) => this.store.inLayer(layer))
      .map(({ uid }) => ({ uid, name: this.store.name(uid), heading: this.store.heading(uid) }));
  }

  get layer() {
    return this.current?.layer ?? this.layers[0];
  }

  get form() {
    return this.editing === null ? null : this.cards[this.editing].form;
  }

  // The cluster whose form is open.
  get edited() {
    return this.editing === null ? null : this.clusters[this.editing];
  }

  get openUid() {
    return this.edited?.chosen?.uid ?? null;
  }

  get current() {
    return this.clusters[this.currentAt];
  }

  get undecided() {
    return this.clusters.filter((cluster) => cluster.chosen === undefined);
  }

  render() {
    this.store = this.labelsInHand();
    byId("no-clusters").hidden = this.clusters.length > 0;
    for (const [at, card] of this.cards.entries()) {
      card.render({ isCurrent: at === this.currentAt, isEdited: at === this.editing, named: this.named });
    }
    this.renderMessages();
  }

  renderMessages() {
    const label = this.current && (this.current.chosen ?? this.current.label);
    const cited = label ? citedMessages(this.layer, label) : new Set();
    const inPhase = this.form?.links?.linked();
    const linked = this.editing === null ? new Set() : inPhase ? new Set(inPhase) : cited;
    this.messages.render({ citing: new Map(), nameOf: (uid) => this.store.name(uid), linked });
    this.messages.highlight(cited);
    this.messages.paint("words-pointed", label ? spansOf(this.layer, label) : []);
  }

  go(at, { focus = true } = {}) {
    if (!this.clusters[at]) return;
    if (at !== this.currentAt) this.editing = null;
    this.currentAt = at;
    this.render();
    if (focus) this.cards[at].focus();
    this.cards[at].root.scrollIntoView({ block: "nearest" });
    const first = Math.min(...citedMessages(this.layer, this.current.chosen ?? this.current.label));
    if (Number.isFinite(first)) this.messages.move(first - this.messages.currentIndex, { focus: false });
  }

  step(by) {
    this.go(Math.min(this.clusters.length - 1, Math.max(0, this.currentAt + by)));
  }

  goUndecided() {
    const order = this.clusters.map((_, n) => (this.currentAt + 1 + n) % this.clusters.length);
    const next = order.find((at) => this.clusters[at].chosen === undefined);
    if (next === undefined) return false;
    this.go(next);
    return true;
  }

  choose(label, at = this.currentAt) {
    if (this.readOnly || !this.clusters[at]) return;
    this.currentAt = at;
    this.editing = null;
    this.clusters[at].chosen = label;
    this.render();
    this.onChange();
  }

  // One disputed field; once none is open the label is chosen.
  settle(field, value, at) {
    const cluster = this.clusters[at];
    if (cluster.chosen) return this.choose({ ...cluster.chosen, [field]: value }, at);
    cluster.settled = { ...cluster.settled, [field]: value };
    const isOpen = cluster.tied?.some((name) => !(name in (cluster.settled ?? {})));
    this.choose(isOpen ? undefined : { ...cluster.label, ...cluster.settled }, at);
  }

  chooseSide(letter) {
    const side = this.current?.sides.find((candidate) => candidate.letter === letter);
    if (!side) return t("There is no {letter}.", { letter });
    if (!side.label) return t("{letter} has no such label. x leaves it out.", { letter });
    this.choose(side.label);
    return t("Taken from {letter}.", { letter });
  }

  edit(at = this.currentAt) {
    const cluster = this.clusters[at];
    if (this.readOnly || !cluster) return;
    this.currentAt = at;
    this.editing = at;
    cluster.chosen = { ...(cluster.chosen ?? cluster.label) };
    this.render();
    this.onChange();
    this.cards[at].form?.focus();
  }

  // The digit's choice in the field that has the focus; false where no form is open. Beside an open
  // form a digit does nothing, since taking another label would throw away what is written.
  chooseValue(digit) {
    const { form } = this;
    if (!form) return false;
    const field = form.digitField();
    const value = field && form.valueAt(field, Number(digit));
    if (!field || value === undefined) say(t("Digits choose in the field that has the focus: Tab goes there."));
    else this.change({ [field]: value });
    return true;
  }

  change(fields) {
    if (!this.edited) return;
    this.edited.chosen = { ...this.edited.chosen, ...fields };
    this.render();
    this.onChange();
  }

  // Only while a label is edited do messages belong to it.
  link(index) {
    const { edited, form } = this;
    if (!edited || !form) return false;
    const field = fieldOf(this.layer, "messages");
    if (form.links) form.links.toggle(index);
    else if (field) this.change({ [field.name]: toggled(edited.chosen?.[field.name], index) });
    else say(t("{title} are not linked to whole messages.", { title: this.layer.title }));
    return true;
  }

  // Words for the label that is edited; without one they begin a label, where that is possible.
  takeWords() {
    if (this.readOnly) return say(t("This cannot be changed."));
    if (this.editing === null && !this.mayAdd) return say(t("Edit the label first: e."));
    return this.words.mark();
  }

  start(values) {
    if (!this.mayAdd) return say(t("Edit a label first: e."));
    const { label } = this.add(values, this.layers[0]);
    this.go(this.clusters.length - 1, { focus: false });
    this.edit(this.clusters.length - 1);
    return label.uid;
  }

  // Escape: first out of the field, then out of the form.
  escape() {
    if (focused().matches("input, textarea, select")) {
      focused().blur();
      this.cards[this.currentAt]?.focus();
    } else if (this.editing !== null) {
      this.editing = null;
      this.render();
      this.cards[this.currentAt].focus();
    }
  }

  showNames(named) {
    this.named = named;
    this.render();
  }

  // What an earlier decision had: labels of no cluster become cards of their own.
  adopt(labels) {
    const left = [...labels];
    for (const cluster of this.clusters) {
      const uids = new Set([cluster.label, ...cluster.sides.map((side) => side.label)].map((label) => label?.uid));
      const at = left.findIndex((label) => uids.has(label.uid));
      cluster.chosen = at < 0 ? null : left.splice(at, 1)[0];
    }
    for (const label of left) this.add(label);
  }

  // A label that no cluster has: of an earlier decision, or written by the person who decides.
  add(label, layer = this.layers[0]) {
    const id = layer.stores_id ? { id: idOf(layer.prefix, this.clusters.length + 1) } : {};
    const values = { uid: newUid(), ...id, ...label };
    /** @type {Cluster} */
    const cluster = { how: "added", label: values, chosen: values, sides: [], differs: [], layer };
    const card = new ClusterCard(cluster, this.clusters.length, this.handlers(this.clusters.length));
    this.clusters.push(cluster);
    this.cards.push(card);
    byId("clusters").append(card.root);
    return cluster;
  }
}

export function say(text) {
  byId("live").textContent = text;
  byId("desk-state").textContent = text;
}

export function setUpGuidelines() {
  const panel = byId("guidelines");
  return () => {
    if (!panel) return;
    panel.hidden = !panel.hidden;
    byId("workspace").classList.toggle("with-panel", !panel.hidden);
    document.querySelector("[data-action=guidelines]")?.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) panel.focus();
  };
}

