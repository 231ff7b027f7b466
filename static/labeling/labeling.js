// What is done to labels: start, link, edit, duplicate, delete.

import { byId, isOneColumn, newUid } from "./dom.js";
import { wordOf } from "./labels.js";
import { linkFieldOf } from "./layers.js";
import { t } from "./texts.js";

/** @import { Parts } from "./types.d.ts" */

export class Labeling {
  /** @param {Pick<Parts, "view" | "store" | "status" | "messages" | "labels" | "problems" | "keyOf">} parts */
  constructor({ view, store, status, messages, labels, problems, keyOf }) {
    this.view = view;
    this.store = store;
    this.status = status;
    this.messages = messages;
    this.labels = labels;
    this.problems = problems;
    this.keyOf = keyOf;
  }

  get uid() {
    return this.view.openUid ?? this.view.currentUid;
  }

  start(values, { reveal = true } = {}) {
    if (this.store.isNothing(this.view.layer)) {
      this.sayAtEmpty(t("“Nothing here” is set: press {key} to take it back before you label.", { key: this.keyOf("nothing-here") }));
      return null;
    }
    const { uid } = this.view.drawnOnce(() => this.store.add(this.view.layer, values));
    this.view.open(uid, { focus: false, reveal });
    this.status.say(t("{name} started", { name: this.store.name(uid) }));
    return uid;
  }

  // A label is started, and what is typed next goes into its first field.
  begin(values) {
    const uid = this.start(values);
    if (uid) this.view.form?.focus();
    return uid;
  }

  // In one column the fields are far below the text: who taps a message goes on reading.
  linkTapped(index) {
    return isOneColumn() ? this.link(index, (values) => this.start(values, { reveal: false })) : this.link(index);
  }

  // A message is linked to the open label, or a label begins with it.
  link(index, begin = (values) => this.begin(values)) {
    const { layer, form, openUid } = this.view;
    const field = linkFieldOf(layer);
    if (!field) return this.status.say(t("{title} are not linked to whole messages.", { title: layer.title }));
    if (!openUid) return begin({ [field.name]: firstLink(field, index) });
    const isLinked = form?.links ? form.links.toggle(index) : this.store.toggle(openUid, field.name, index);
    if (this.problems.forget(openUid, field.name)) this.view.render();
    const name = this.store.name(openUid);
    return this.status.say(isLinked ? t("Message {index} linked to {name}", { index, name }) : t("Message {index} unlinked from {name}", { index, name }));
  }

  // What a field may point to: the labels of the given layers, except the open one.
  offers(names) {
    const layers = this.view.layers.filter(({ name }) => names.includes(name));
    return layers
      .flatMap((layer) => this.store.inLayer(layer))
      .filter(({ uid }) => uid !== this.view.openUid)
      .map(({ uid }) => ({ uid, name: this.store.name(uid), heading: this.store.heading(uid) }));
  }

  edit(field, value) {
    this.problems.forget(this.view.openUid, field);
    this.store.edit(this.view.openUid, field, value);
  }

  chooseByDigit(digit) {
    const { form } = this.view;
    const field = form?.digitField();
    if (form && !field) return this.status.say(t("Digits choose in the field that has the focus: Tab goes there."));
    return this.choose(field, form?.valueAt(field, Number(digit)));
  }

  choose(name, value) {
    if (value === undefined) return this.sayNoChoice();
    this.edit(name, value);
    this.store.endEdit();
    const { fields } = this.view.layer;
    const label = fields.find((field) => field.name === name)?.label;
    return this.status.say(`${label}: ${wordOf(fields, name, value)}`);
  }

  sayNoChoice() {
    if (this.view.openUid) return this.status.say(t("This label has no such choice."));
    return this.status.say(
      t("Open a label first: {key} starts one, {key2} edits.", { key: this.keyOf("label-new"), key2: this.keyOf("label-edit") }),
    );
  }

  duplicate() {
    if (!this.uid) return this.sayNone();
    const from = this.store.name(this.uid);
    const copy = this.view.drawnOnce(() => this.store.duplicate(this.uid));
    this.view.open(copy.uid, { focus: false });
    return this.status.say(t("{name} is a copy of {from}", { name: this.store.name(copy.uid), from }));
  }

  remove(uid) {
    if (!this.store.label(uid)) return;
    const name = this.store.name(uid);
    this.store.remove(uid);
    this.messages.move(0, { focus: true });
    this.offerUndo(t("{name} deleted.", { name }), uid);
  }

  offerUndo(text, uid) {
    const undo = () => {
      this.store.undo();
      this.labels.focusHead(uid);
    };
    this.status.notice("deleted", { text, actions: [[t("Undo"), undo]] });
  }

  sayNone() {
    return this.status.say(t("There is no label yet: {key} starts one.", { key: this.keyOf("label-new") }));
  }

  // "Nothing here" is the answer of a layer and excludes labels in it.

  toggleEmpty() {
    const { layer, layers, inLayer } = this.view;
    const isNothing = !this.store.isNothing(layer);
    if (isNothing && inLayer.length) {
      byId("empty").checked = false;
      return this.sayAtEmpty(t("There are labels: delete them before you say “nothing here”."));
    }
    this.sayAtEmpty("");
    this.store.setNothing(layer, isNothing);
    const said = isNothing ? t("Answer: nothing here") : t("“Nothing here” taken back");
    return this.status.say(layers.length > 1 ? `${layer.title} – ${said}` : said);
  }

  sayAtEmpty(text) {
    const line = byId("empty-error");
    line.textContent = text;
    line.dataset.asked = text ? "yes" : "";
    if (text) this.status.announce(text);
  }
}

function firstLink({ widget, fields }, index) {
  if (widget === "messages") return [index];
  const evidence = fields.find((field) => field.widget === "messages").name;
  return [{ uid: newUid(), [evidence]: [index] }];
}
