// What has been labeled on this page, with undo. States are never changed, only replaced:
// {labels: {requirements: […], …}, nothing}; `nothing` names the layers of which “nothing here” is said.

import { newUid } from "./dom.js";
import { citedMessages, headingOf, idOf, nameOf, numberOf, toggled } from "./layers.js";

/** @import { Label, Layer, Payload, Said } from "./types.d.ts" */

const DEPTH = 200; // undo steps kept

export class Store {
  /**
   * @param {Layer[]} layers
   * @param {Payload} payload
   * @param {Said} [said] whether “nothing here” is said, and which layers are not answered
   */
  constructor(layers, payload, said = {}) {
    this.layers = layers;
    this.state = this.stateOf(payload, said);
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.lastEdit = null;
    this.placesIn = null; // the labels that `places` was made of
    /** @type {Map<string, { layer: Layer, label: Label, at: number }>} */
    this.places = new Map();
    this.cited = null;
  }

  stateOf(payload, said) {
    const labels = Object.fromEntries(this.layers.map(({ key }) => [key, payload?.[key] ?? []]));
    const isNothing = ({ key, name }) => said.empty || (!labels[key].length && said.unanswered && !said.unanswered.includes(name));
    const nothing = this.layers.filter(isNothing).map(({ name }) => name);
    return { labels, nothing };
  }

  isNothing({ name }) {
    return this.state.nothing.includes(name);
  }

  // The layers of which nothing is said.
  get unanswered() {
    return this.layers.filter((layer) => !this.inLayer(layer).length && !this.isNothing(layer));
  }

  // What the answer says beyond its labels.
  get said() {
    const { nothing } = this.state;
    return { nothing, unanswered: this.unanswered.map(({ name }) => name), empty: nothing.length === this.layers.length };
  }

  get payload() {
    return this.state.labels;
  }

  get labels() {
    return [...this.placeOf.values()].map(({ label }) => label);
  }

  // Where each label is: uid -> {layer, label, at}. States are never changed, so it is looked up
  // once for each.
  get placeOf() {
    if (this.placesIn !== this.state.labels) {
      this.placesIn = this.state.labels;
      this.places = new Map();
      this.cited = null;
      for (const layer of this.layers) {
        for (const [at, label] of this.inLayer(layer).entries()) this.places.set(label.uid, { layer, label, at });
      }
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
    return this.placeOf.get(uid)?.label;
  }

  layerOf(uid) {
    return this.placeOf.get(uid)?.layer;
  }

  // Where a label is that there must be.
  placeIn(uid) {
    const place = this.placeOf.get(uid);
    if (!place) throw new Error(`There is no label ${uid}.`);
    return place;
  }

  name(uid) {
    const place = this.placeOf.get(uid);
    return place ? nameOf(place.layer, place.label, place.at) : "";
  }

  heading(uid) {
    const label = this.label(uid);
    return label ? headingOf(this.layerOf(uid), label, this) : "";
  }

  // Which labels cite which message: message -> [uid, …]
  get citing() {
    const { placeOf } = this;
    this.cited ??= citations(placeOf);
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
    const { layer } = this.placeIn(uid);
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
    const linked = toggled(this.placeIn(uid).label[field], index);
    this.edit(uid, field, linked);
    this.endEdit();
    return linked.includes(index);
  }

  // What pointed to a removed label points to nothing any more.
  remove(uid) {
    const left = ({ key, fields }) => {
      const pointing = fields.filter(({ widget }) => widget === "references");
      return this.state.labels[key].filter((label) => label.uid !== uid).map((label) => withoutReference(pointing, label, uid));
    };
    this.become({ ...this.state, labels: Object.fromEntries(this.layers.map((layer) => [layer.key, left(layer)])) });
  }

  duplicate(uid) {
    const { layer, label: original } = this.placeIn(uid);
    const label = structuredClone(original);
    for (const phase of label.phases ?? []) phase.uid = newUid();
    const copy = { ...label, uid: newUid(), ...this.nextId(layer) };
    this.change(layer, (labels) => labels.flatMap((kept) => (kept.uid === uid ? [kept, copy] : [kept])));
    return copy;
  }

  setNothing({ name }, isNothing) {
    const others = this.state.nothing.filter((other) => other !== name);
    this.become({ ...this.state, nothing: isNothing ? [...others, name] : others });
  }

  replace({ payload, ...said }) {
    this.become(this.stateOf(payload, said));
  }

  // What the server has, shown in place of what it had when the page was drawn.
  load({ payload, ...said }) {
    const { listeners } = this;
    Object.assign(this, new Store(this.layers, payload, said), { listeners });
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

function citations(places) {
  const cited = new Map();
  for (const [uid, { layer, label }] of places) {
    for (const index of citedMessages(layer, label)) {
      if (cited.has(index)) cited.get(index).push(uid);
      else cited.set(index, [uid]);
    }
  }
  return cited;
}

// A label taken over from a suggestion no longer says what was suggested.
const edited = (label) => (label.suggestion ? { ...label, origin: "edited" } : label);

function withoutReference(fields, label, uid) {
  const changed = { ...label };
  for (const { name, many } of fields) {
    if (many && label[name]?.includes(uid)) changed[name] = label[name].filter((target) => target !== uid);
    else if (!many && label[name] === uid) changed[name] = null;
  }
  return fields.some(({ name }) => changed[name] !== label[name]) ? changed : label;
}
