// Adjudication: everybody's labels in clusters, one decision about each, sent in one go.

import { RequestFailed, send } from "./api.js";
import { isMixed } from "./clusters.js";
import { Desk, say, setUpGuidelines } from "./desk.js";
import { byId, readJson, wireButtons } from "./dom.js";
import { keep, recall } from "./kept.js";
import { Keys } from "./keys.js";
import { setUpKeyTable } from "./keytable.js";
import { t } from "./texts.js";

/** @import { Cluster } from "./types.d.ts" */

const AGREED = ["unanimous", "majority", "single"];
const FAILED = {
  "signed-out": t("You are signed out: sign in again in another tab, then decide again."),
  unreachable: t("The server cannot be reached. The decision is kept in this browser; try again."),
};

class Adjudication {
  constructor() {
    this.page = readJson("page");
    const layers = readJson("layers");
    const [layer] = layers;
    const { clusters, given: settled, read_only: readOnly, user, conversation } = this.page;
    for (const cluster of clusters) cluster.layer = layer;
    this.draft = `assay:decision:${user}:${conversation}:${layer.name}`;
    this.desk = new Desk({ clusters, layers, settled, readOnly, mayAdd: true, onChange: () => this.changed() });
    this.start();
    this.toggleGuidelines = setUpGuidelines();
    this.keys = new Keys(readJson("keys"), this.actions(), `${user}:adjudication`);
    this.help = setUpKeyTable(this.keys);
    this.wire();
    this.desk.render();
    this.count();
    const first = clusters.findIndex((cluster) => cluster.chosen === undefined);
    this.desk.go(Math.max(0, first));
  }

  // What was agreed holds unless an earlier decision says otherwise, and an unsent one beats both.
  start() {
    const { clusters, decision } = this.page;
    for (const cluster of clusters) if (AGREED.includes(cluster.how)) cluster.chosen = cluster.label;
    if (decision) this.desk.adopt(decision.labels);
    const draft = this.page.read_only ? null : recall(this.draft);
    const form = draft ?? decision;
    if (byId("verdict") && form) this.fill(form);
    if (!draft) return;
    for (const cluster of clusters) {
      if (cluster.label.uid in draft.chosen) cluster.chosen = draft.chosen[cluster.label.uid];
    }
    const known = new Set(clusters.map((cluster) => cluster.label.uid));
    for (const label of draft.added ?? []) if (!known.has(label.uid)) this.desk.add(label);
    say(t("Your unsent decision is back."));
  }

  fill({ kind, note, guideline_flag: flag }) {
    byId("kind").value = kind;
    byId("note").value = note;
    byId("flag").checked = flag;
  }

  actions() {
    const { desk } = this;
    const reading = {
      next: () => desk.step(1),
      previous: () => desk.step(-1),
      undecided: () => desk.goUndecided() || say(t("Everything is decided.")),
      "message-next": () => desk.messages.move(1, { focus: true }),
      "message-previous": () => desk.messages.move(-1, { focus: true }),
      guidelines: () => this.toggleGuidelines(),
      names: () => this.showNames(!desk.named),
      close: () => desk.escape(),
      help: () => this.help(),
    };
    const writing = {
      side: (key) => this.side(key),
      agreed: (key) => (desk.form?.hasZero(key) ? desk.chooseValue(key) : this.agreed()),
      reject: () => desk.choose(null),
      edit: () => desk.edit(),
      "label-new": () => desk.start({}),
      words: () => desk.takeWords(),
      link: () => desk.link(desk.messages.currentIndex) || say(t("Edit the label first: e.")),
      kind: () => this.nextKind(),
      note: () => byId("note").focus(),
      flag: () => byId("flag").click(),
      decide: () => this.decide(),
    };
    const refuse = () => say(t("Only a lead decides."));
    const refused = Object.fromEntries(Object.keys(writing).map((name) => [name, refuse]));
    return { ...reading, ...(this.page.read_only ? refused : writing) };
  }

  // While a label is edited the digits belong to its form.
  side(key) {
    if (!this.desk.chooseValue(key)) say(this.desk.chooseSide(this.letterOf(key)));
  }

  letterOf(key) {
    const digit = Number(key);
    return digit ? (this.desk.current?.sides[digit - 1]?.letter ?? key) : key.toUpperCase();
  }

  agreed() {
    const { current } = this.desk;
    if (current) this.desk.choose(AGREED.includes(current.how) ? current.label : undefined);
  }

  nextKind() {
    const kind = byId("kind");
    kind.selectedIndex = (kind.selectedIndex % (kind.options.length - 1)) + 1;
    say(t("Why they differed: {reason}", { reason: kind.selectedOptions[0].text }));
    this.changed();
  }

  showNames(named) {
    byId("names").checked = named;
    this.desk.showNames(named);
  }

  wire() {
    const actions = this.actions();
    wireButtons(actions);
    byId("names").addEventListener("change", (event) => this.showNames(event.target.checked));
    byId("verdict")?.addEventListener("input", () => this.changed());
    byId("verdict")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide();
    });
  }

  get form() {
    return { kind: byId("kind").value, note: byId("note").value, guideline_flag: byId("flag").checked };
  }

  changed() {
    const { clusters } = this.desk;
    const decided = clusters.filter((cluster) => cluster.chosen !== undefined);
    const byUid = Object.fromEntries(decided.map(({ label, chosen }) => [label.uid, chosen]));
    const added = decided.filter(({ how, chosen }) => how === "added" && chosen).map(({ chosen }) => chosen);
    const isKept = keep(this.draft, { ...this.form, chosen: byUid, added });
    byId("verdict-error").textContent = "";
    this.count();
    byId("desk-state").textContent = isKept ? t("Draft kept in this browser") : t("This browser keeps no draft");
  }

  count() {
    const open = this.desk.undecided.length;
    byId("count").textContent = open ? t("{open} to decide", { open }) : t("{n} decided", { n: this.desk.clusters.length });
  }

  // What is still wanting, with where to go; undefined when it can be sent.
  objection() {
    const { clusters, undecided } = this.desk;
    const { kind, note } = this.form;
    if (undecided.length) return [t("Some labels are not decided yet."), () => this.desk.goUndecided()];
    const disputed = clusters.some((cluster) => cluster.how === "disputed");
    if (disputed && !kind) return [t("Choose why they differed."), () => byId("kind").focus()];
    if (!note.trim() && clusters.some(overrulesAll)) {
      return [t("Write a note: no annotator had given this decision."), () => byId("note").focus()];
    }
    return undefined;
  }

  async decide() {
    if (this.sending) return;
    const objection = this.objection();
    if (objection) return this.refuse(...objection);
    this.sending = true;
    say("Sending…");
    try {
      await send("POST", this.page.urls.decide, this.decision());
      keep(this.draft, null);
      location.assign(this.page.urls.next);
    } catch (failure) {
      this.sending = false;
      if (!(failure instanceof RequestFailed)) throw failure;
      this.refuse(FAILED[failure.kind] ?? failure.message, () => {});
    }
  }

  decision() {
    const { clusters } = this.desk;
    const isAdded = (cluster) => cluster.how === "added";
    return {
      answers: this.page.answers,
      labels: clusters.filter((cluster) => !isAdded(cluster)).map(({ chosen }) => chosen),
      added: clusters.filter((cluster) => isAdded(cluster) && cluster.chosen).map(({ chosen }) => chosen),
      ...this.form,
    };
  }

  refuse(text, go) {
    say(text);
    byId("verdict-error").textContent = text;
    go();
  }
}

/** @param {Cluster} cluster */
function overrulesAll(cluster) {
  const { how, chosen, sides } = cluster;
  if (how === "added") return Boolean(chosen);
  if (!chosen) return sides.every((side) => side.label);
  return !isMixed(cluster);
}

new Adjudication();
