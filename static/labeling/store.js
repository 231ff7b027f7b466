// What has been labelled on this page, with undo. States are never changed, only replaced.

import { newUid } from "./dom.js";

const KEY = "requirements";
const PREFIX = "REQ";
const DEPTH = 200; // undo steps kept

export class Store {
  constructor(payload, empty) {
    this.state = { labels: payload?.[KEY] ?? [], empty: Boolean(empty) };
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.lastEdit = null;
  }

  get payload() {
    return { [KEY]: this.state.labels };
  }

  get labels() {
    return this.state.labels;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  label(uid) {
    return this.labels.find((label) => label.uid === uid);
  }

  citing(index) {
    return this.labels.filter((label) => label.source_messages?.includes(index));
  }

  add(values = {}) {
    const label = { uid: newUid(), id: this.nextId(), source_messages: [], ...values };
    this.become({ ...this.state, labels: [...this.labels, label] });
    return label;
  }

  // Letters typed into one field are one undo step, until something else is changed.
  edit(uid, field, value) {
    const edit = `${uid}.${field}`;
    const labels = this.labels.map((label) =>
      label.uid === uid ? { ...label, [field]: value } : label,
    );
    this.become({ ...this.state, labels }, { joins: this.lastEdit === edit });
    this.lastEdit = edit;
  }

  endEdit() {
    this.lastEdit = null;
  }

  toggleLink(uid, index) {
    const linked = new Set(this.label(uid).source_messages ?? []);
    if (!linked.delete(index)) linked.add(index);
    this.edit(uid, "source_messages", [...linked].sort((a, b) => a - b));
    this.endEdit();
    return linked.has(index);
  }

  remove(uid) {
    this.become({ ...this.state, labels: this.labels.filter((label) => label.uid !== uid) });
  }

  setEmpty(empty) {
    this.become({ ...this.state, empty });
  }

  replace(payload, empty) {
    this.become({ labels: payload?.[KEY] ?? [], empty: Boolean(empty) });
  }

  // What the server has, shown in place of what it had when the page was drawn.
  load(payload, empty) {
    Object.assign(this, new Store(payload, empty), { listeners: this.listeners });
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

  nextId() {
    const numbers = this.labels.map((label) => Number.parseInt(label.id?.split("-")[1], 10) || 0);
    return `${PREFIX}-${String(Math.max(0, ...numbers) + 1).padStart(3, "0")}`;
  }

  // "requirements.2.title" -> the label and the field it speaks of
  locate(path) {
    const [key, position, field] = path.split(".");
    const label = key === KEY ? this.labels[Number(position)] : undefined;
    return { uid: label?.uid, field };
  }
}
