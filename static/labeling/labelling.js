// What is done to labels: start, link, edit, duplicate, move, merge, delete.

import { pickLabel } from "./dialogs.js";
import { byId, newUid } from "./dom.js";
import { choicesOf, fieldOf } from "./layers.js";

export class Labelling {
  constructor(page) {
    this.page = page;
    this.store = page.store;
    this.status = page.status;
  }

  get uid() {
    return this.page.openUid ?? this.page.currentUid;
  }

  start(values) {
    if (this.store.state.empty) {
      this.sayAtEmpty(`“Nothing here” is set: press ${this.key("nothing-here")} to take it back before you label.`);
      return null;
    }
    const { uid } = this.store.add(this.page.layer, values);
    this.page.open(uid, { focus: false });
    this.status.say(`${this.store.name(uid)} started`);
    return uid;
  }

  add() {
    if (this.start()) this.page.form.focus();
  }

  // A message is linked to the open label, or a label starts with it.
  link(index) {
    const { layer, form, openUid } = this.page;
    const field = fieldOf(layer, "messages") ?? fieldOf(layer, "phases");
    if (!field) return this.status.say(`${layer.title} are not linked to whole messages.`);
    if (!openUid) return this.start({ [field.name]: firstLink(field, index) });
    const isLinked = form.links ? form.links.toggle(index) : this.store.toggle(openUid, field.name, index);
    this.page.ending.forgetProblem(field.name);
    const name = this.store.name(openUid);
    return this.status.say(`Message ${index} ${isLinked ? "linked to" : "unlinked from"} ${name}`);
  }

  // What a field may point to: the labels of the given layers, except the open one.
  offers(names) {
    const layers = this.page.layers.filter(({ name }) => names.includes(name));
    return layers
      .flatMap((layer) => this.store.inLayer(layer))
      .filter(({ uid }) => uid !== this.page.openUid)
      .map(({ uid }) => ({ uid, name: this.store.name(uid), heading: this.store.heading(uid) }));
  }

  edit(field, value) {
    this.page.ending.forgetProblem(field, { redraw: false });
    this.store.edit(this.page.openUid, field, value);
  }

  choose(field, position) {
    const value = this.page.form?.choices(field)[position];
    if (value === undefined) return this.sayNoChoice();
    this.edit(field, value);
    this.store.endEdit();
    const label = this.page.layer.fields.find(({ name }) => name === field)?.label;
    return this.status.say(`${label}: ${value}`);
  }

  sayNoChoice() {
    if (this.page.openUid) return this.status.say("This label has no such choice.");
    return this.status.say(
      `Open a label first: ${this.key("label-new")} starts one, ${this.key("label-edit")} edits.`,
    );
  }

  cycle(field) {
    const values = this.page.form?.choices(field) ?? [];
    const at = values.indexOf(this.store.label(this.page.openUid)?.[field]);
    return this.choose(field, (at + 1) % (values.length || 1));
  }

  cycleSecondChoice() {
    return this.cycle(choicesOf(this.page.layer)[1]?.name);
  }

  duplicate() {
    if (!this.uid) return this.sayNone();
    const from = this.store.name(this.uid);
    const copy = this.store.duplicate(this.uid);
    this.page.open(copy.uid, { focus: false });
    return this.status.say(`${this.store.name(copy.uid)} is a copy of ${from}`);
  }

  move(by) {
    if (!this.uid) return this.sayNone();
    const isMoved = this.store.move(this.uid, by);
    if (isMoved) this.page.labels.reveal(this.uid);
    const place = this.page.inLayer.findIndex(({ uid }) => uid === this.uid) + 1;
    return this.status.say(isMoved ? `Moved to place ${place}` : `It is the ${by < 0 ? "first" : "last"} label`);
  }

  async merge() {
    const { uid } = this;
    if (!uid) return this.sayNone();
    const others = this.offers([this.page.layer.name]).filter((offer) => offer.uid !== uid);
    if (!others.length) return this.status.say("There is no other label to merge with.");
    const other = await pickLabel({ name: this.store.name(uid), others });
    if (!other || !this.store.label(other) || !this.store.label(uid)) return undefined;
    const said = `${this.store.name(other)} merged into ${this.store.name(uid)}.`;
    this.store.merge(uid, other);
    this.page.open(uid, { focus: false });
    return this.offerUndo(said, uid);
  }

  remove(uid) {
    if (!this.store.label(uid)) return;
    const name = this.store.name(uid);
    this.store.remove(uid);
    this.page.messages.move(0, { focus: true });
    this.offerUndo(`${name} deleted.`, uid);
  }

  offerUndo(text, uid) {
    const undo = () => {
      this.store.undo();
      this.status.dismiss("deleted");
      this.page.labels.focusHead(uid);
    };
    this.status.notice("deleted", { text, actions: [["Undo", undo]] });
  }

  sayNone() {
    return this.status.say(`There is no label yet: ${this.key("label-new")} starts one.`);
  }

  key(action) {
    return this.page.keys.keyOf(action);
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
