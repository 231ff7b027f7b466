// What has been labelled on this page, with undo. States are never changed, only replaced:
// {labels: {requirements: […], …}, empty, dismissed}; `dismissed` names unwanted suggestions.

import { newUid } from "./dom.js";
import { citedMessages, headingOf, nameOf } from "./layers.js";
import { idOf, mergedLabel, numberOf, withoutReferences } from "./merging.js";

const DEPTH = 200; // undo steps kept

export class Store {
  constructor(layers, payload, empty) {
    this.layers = layers;
    this.state = this.stateOf(payload, empty);
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.lastEdit = null;
  }

  stateOf(payload, empty) {
    const labels = Object.fromEntries(this.layers.map(({ key }) => [key, payload?.[key] ?? []]));
    return { labels, empty: Boolean(empty), dismissed: this.state?.dismissed ?? [] };
  }

  get payload() {
    return this.state.labels;
  }

  get labels() {
    return [...this.found.values()].map(({ label }) => label);
  }

  // Where each label is: uid -> {layer, label, at}. States are never changed, so it is looked up
  // once for each.
  get found() {
    if (this.foundIn !== this.state.labels) {
      const places = this.layers.flatMap((layer) =>
        this.inLayer(layer).map((label, at) => [label.uid, { layer, label, at }]),
      );
      Object.assign(this, { foundIn: this.state.labels, places: new Map(places), cited: null });
    }
    return this.places;
  }

  inLayer({ key }) {
    return this.state.labels[key];
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  label(uid) {
    return this.found.get(uid)?.label;
  }

  layerOf(uid) {
    return this.found.get(uid)?.layer;
  }

  name(uid) {
    const { layer, label, at } = this.found.get(uid) ?? {};
    return layer ? nameOf(layer, label, at) : "";
  }

  heading(uid) {
    const label = this.label(uid);
    return label ? headingOf(this.layerOf(uid), label, this) : "";
  }

  // Which labels cite which message: message -> [uid, …]
  get citing() {
    const { found } = this;
    this.cited ??= citations(found);
    return this.cited;
  }

  add(layer, values = {}) {
    const label = { uid: newUid(), ...this.nextId(layer), ...values };
    this.change(layer, (labels) => [...labels, label]);
    return label;
  }

  // Letters typed into one field are one undo step, until something else is changed.
  edit(uid, field, value) {
    const edit = `${uid}.${field}`;
    const layer = this.layerOf(uid);
    const isReference = layer.fields.find(({ name }) => name === field)?.widget === "references";
    const marked = isReference ? (label) => label : edited;
    const change = (label) => (label.uid === uid ? marked({ ...label, [field]: value }) : label);
    const joins = this.lastEdit === edit;
    this.change(layer, (labels) => labels.map(change), { joins });
    this.lastEdit = edit;
  }

  endEdit() {
    this.lastEdit = null;
  }

  toggle(uid, field, index) {
    const linked = new Set(this.label(uid)[field] ?? []);
    if (!linked.delete(index)) linked.add(index);
    this.edit(uid, field, [...linked].sort((a, b) => a - b));
    this.endEdit();
    return linked.has(index);
  }

  // What pointed to a removed label points to nothing any more.
  remove(uid) {
    const labels = withoutReferences(this.layers, this.state.labels, uid);
    const { key } = this.layerOf(uid);
    const left = labels[key].filter((label) => label.uid !== uid);
    this.become({ ...this.state, labels: { ...labels, [key]: left } });
  }

  duplicate(uid) {
    const layer = this.layerOf(uid);
    const label = structuredClone(this.label(uid));
    for (const phase of label.phases ?? []) phase.uid = newUid();
    const copy = { ...label, uid: newUid(), ...this.nextId(layer) };
    this.change(layer, (labels) => labels.flatMap((one) => (one.uid === uid ? [one, copy] : [one])));
    return copy;
  }

  move(uid, by) {
    const layer = this.layerOf(uid);
    const at = this.inLayer(layer).findIndex((label) => label.uid === uid);
    const to = at + by;
    if (to < 0 || to >= this.inLayer(layer).length) return false;
    this.change(layer, (labels) => labels.with(at, labels[to]).with(to, labels[at]));
    return true;
  }

  // The first keeps its fields; the other's sources and lists are added, and it goes.
  merge(uid, otherUid) {
    const layer = this.layerOf(uid);
    const other = this.label(otherUid);
    const merged = mergedLabel(layer, this.label(uid), other);
    const labels = withoutReferences(this.layers, this.state.labels, otherUid, uid);
    const left = labels[layer.key].filter((label) => label.uid !== otherUid);
    const from = other.suggestion && { suggestion: other.suggestion };
    const united = left.map((label) => (label.uid === uid ? edited({ ...from, ...label, ...merged }) : label));
    this.become({ ...this.state, labels: { ...labels, [layer.key]: united } });
  }

  setEmpty(empty) {
    this.become({ ...this.state, empty });
  }

  dismiss(suggestion) {
    this.become({ ...this.state, dismissed: [...this.state.dismissed, suggestion] });
  }

  // What was dismissed before this page was opened, which no undo brings back.
  knowDismissed(dismissed) {
    const known = (state) => ({ ...state, dismissed });
    this.state = known(this.state);
    this.past = this.past.map(known);
    this.future = this.future.map(known);
  }

  replace(payload, empty) {
    this.become(this.stateOf(payload, empty));
  }

  // What the server has, shown in place of what it had when the page was drawn.
  load(payload, empty) {
    const { listeners, state } = this;
    Object.assign(this, new Store(this.layers, payload, empty), { listeners });
    this.knowDismissed(state.dismissed);
    this.tell();
  }

  undo() {
    return this.travel(this.past, this.future);
  }

  redo() {
    return this.travel(this.future, this.past);
  }

  travel(from, to) {
    if (!from.length) return false;
    to.push(this.state);
    this.state = from.pop();
    this.lastEdit = null;
    this.tell();
    return true;
  }

  change({ key }, changed, options) {
    const labels = { ...this.state.labels, [key]: changed(this.state.labels[key]) };
    this.become({ ...this.state, labels }, options);
  }

  become(state, { joins = false } = {}) {
    if (!joins) this.past = [...this.past.slice(1 - DEPTH), this.state];
    this.future = [];
    this.lastEdit = null;
    this.state = state;
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener(this.state);
  }

  nextId(layer) {
    if (!layer.stores_id) return {};
    const highest = Math.max(0, ...this.inLayer(layer).map(({ id }) => numberOf(id)));
    return { id: idOf(layer.prefix, highest + 1) };
  }

  // "requirements.2.title" -> the label and the field it speaks of
  locate(path) {
    const [key, position, field] = path.split(".");
    return { uid: this.state.labels[key]?.[Number(position)]?.uid, field };
  }
}

function citations(found) {
  const cited = new Map();
  for (const [uid, { layer, label }] of found) {
    for (const index of citedMessages(layer, label)) {
      if (cited.has(index)) cited.get(index).push(uid);
      else cited.set(index, [uid]);
    }
  }
  return cited;
}

// A label taken over from a suggestion no longer says what was suggested.
const edited = (label) => (label.suggestion ? { ...label, origin: "edited" } : label);
