// Labels laid out for somebody who decides about them: one card for each cluster, in it everybody's
// version side by side, and what was chosen. Adjudication and review both work on it.

import { byId, newUid } from "./dom.js";
import { ClusterCard } from "./clusters.js";
import { MessageList } from "./messages.js";

export class Desk {
  // clusters: [{how, label, sides: [{letter, annotator, label}], differs, layer}]; `chosen` of each
  // is a label, null (left out) or undefined (not decided). onChange() after every choice.
  constructor({ clusters, readOnly, rejectKey = "x", onChange }) {
    Object.assign(this, { clusters, readOnly, rejectKey, onChange });
    this.currentAt = 0;
    this.editing = null; // the cluster whose form is open
    this.named = false;
    this.messages = this.makeMessages();
    this.cards = clusters.map((cluster, at) => new ClusterCard(cluster, at, this.handlers(at)));
    byId("clusters").append(...this.cards.map((card) => card.root));
    byId("no-clusters").hidden = clusters.length > 0;
  }

  makeMessages() {
    const handlers = { link: (index) => this.link(index), point: () => {}, openLabel: () => {} };
    return new MessageList({ root: byId("conversation"), readOnly: this.readOnly, handlers });
  }

  handlers(at) {
    return {
      readOnly: this.readOnly,
      rejectKey: this.rejectKey,
      show: () => this.go(at),
      choose: (label) => this.choose(label, at),
      edit: () => this.edit(at),
      form: {
        edit: (field, value) => this.change({ [field]: value }),
        endEdit: () => {},
        unlink: (index) => this.link(index),
        quote: (index) => this.messages.quote(index),
        labelsOf: () => [],
        labelOf: () => undefined,
        askWords: () => {},
        target: () => {},
      },
    };
  }

  get current() {
    return this.clusters[this.currentAt];
  }

  get undecided() {
    return this.clusters.filter((cluster) => cluster.chosen === undefined);
  }

  render() {
    for (const [at, card] of this.cards.entries()) {
      card.render({ isCurrent: at === this.currentAt, isEdited: at === this.editing, named: this.named });
    }
    this.renderMessages();
  }

  renderMessages() {
    const label = this.current && (this.current.chosen ?? this.current.label);
    const linked = new Set(this.editing === null ? [] : (label?.source_messages ?? []));
    this.messages.render({ citing: new Map(), linked });
    this.messages.highlight(new Set(label?.source_messages ?? []));
  }

  go(at, { focus = true } = {}) {
    if (!this.clusters[at]) return;
    if (at !== this.currentAt) this.editing = null;
    this.currentAt = at;
    this.render();
    if (focus) this.cards[at].focus();
    this.cards[at].root.scrollIntoView({ block: "nearest" });
    const [first] = (this.current.chosen ?? this.current.label).source_messages ?? [];
    if (first !== undefined) this.messages.move(first - this.messages.currentIndex, { focus: false });
  }

  step(by) {
    this.go(Math.min(this.clusters.length - 1, Math.max(0, this.currentAt + by)));
  }

  goUndecided() {
    const order = this.clusters.map((_, n) => (this.currentAt + 1 + n) % this.clusters.length);
    const found = order.find((at) => this.clusters[at].chosen === undefined);
    if (found === undefined) return false;
    this.go(found);
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

  chooseSide(letter) {
    const side = this.current?.sides.find((one) => one.letter === letter);
    if (!side) return `There is no ${letter}.`;
    if (!side.label) return `${letter} has no such label. x leaves it out.`;
    this.choose(side.label);
    return `Taken from ${letter}.`;
  }

  edit(at = this.currentAt) {
    const cluster = this.clusters[at];
    if (this.readOnly || !cluster) return;
    this.currentAt = at;
    this.editing = at;
    cluster.chosen = { ...(cluster.chosen ?? cluster.label) };
    this.render();
    this.onChange();
    this.cards[at].form.focus();
  }

  // The digit's choice in the form's first field of choices; false where there is no form.
  chooseValue(digit) {
    if (this.editing === null) return false;
    const field = this.clusters[this.editing].layer.fields.find((one) => one.choices?.length);
    const choice = field?.choices[Number(digit) - 1];
    if (!choice) return false;
    this.change({ [field.name]: choice.value });
    return true;
  }

  change(fields) {
    const cluster = this.clusters[this.editing];
    cluster.chosen = { ...cluster.chosen, ...fields };
    this.render();
    this.onChange();
  }

  // Only while a label is edited do messages belong to it.
  link(index) {
    if (this.editing === null) return false;
    const linked = new Set(this.clusters[this.editing].chosen.source_messages ?? []);
    if (!linked.delete(index)) linked.add(index);
    this.change({ source_messages: [...linked].sort((a, b) => a - b) });
    return true;
  }

  // Escape: first out of the field, then out of the form.
  escape() {
    const { activeElement } = document;
    if (activeElement?.matches("input, textarea, select")) {
      activeElement.blur();
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
      const uids = new Set([cluster.label, ...cluster.sides.map((side) => side.label)].map((one) => one?.uid));
      const at = left.findIndex((label) => uids.has(label.uid));
      cluster.chosen = at < 0 ? null : left.splice(at, 1)[0];
    }
    for (const label of left) this.add(label);
  }

  add(label, layer = this.clusters[0]?.layer) {
    const cluster = { how: "added", label: { uid: newUid(), ...label }, sides: [], differs: [], layer };
    cluster.chosen = cluster.label;
    const card = new ClusterCard(cluster, this.clusters.length, this.handlers(this.clusters.length));
    this.clusters.push(cluster);
    this.cards.push(card);
    byId("clusters").append(card.root);
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
    document.querySelector("[data-action=guidelines]").setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) panel.focus();
  };
}

