// Review: one person's answer, to accept, to correct and accept, or to return with a comment.

import { RequestFailed, send } from "./api.js";
import { isSame } from "./clusters.js";
import { Desk, say, setUpGuidelines } from "./desk.js";
import { byId, readJson, wireButtons } from "./dom.js";
import { Keys } from "./keys.js";
import { setUpKeyTable } from "./keytable.js";
import { t } from "./texts.js";

const FAILED = {
  "signed-out": t("You are signed out: sign in again in another tab, then try again."),
  unreachable: t("The server cannot be reached. Nothing was stored; try again."),
};

class ReviewPage {
  constructor() {
    this.page = readJson("page");
    this.layers = readJson("layers");
    const { clusters, read_only: readOnly, user } = this.page;
    const byName = new Map(this.layers.map((layer) => [layer.name, layer]));
    for (const cluster of clusters) cluster.layer = byName.get(cluster.layer);
    const { layers } = this;
    this.desk = new Desk({ clusters, layers, readOnly, rejectKey: t("Del"), onChange: () => this.count() });
    this.toggleGuidelines = setUpGuidelines();
    const actions = this.actions();
    this.keys = new Keys(readJson("keys"), actions, `${user}:review`);
    this.help = setUpKeyTable(this.keys);
    wireButtons(actions);
    byId("verdict")?.addEventListener("submit", (event) => event.preventDefault());
    this.desk.render();
    this.count();
    this.desk.go(0);
  }

  actions() {
    const { desk } = this;
    const reading = {
      next: () => desk.step(1),
      previous: () => desk.step(-1),
      "message-next": () => desk.messages.move(1, { focus: true }),
      "message-previous": () => desk.messages.move(-1, { focus: true }),
      guidelines: () => this.toggleGuidelines(),
      close: () => desk.escape(),
      help: () => this.help(),
    };
    const writing = {
      accept: () => this.accept(),
      fix: () => this.fix(),
      return: () => this.giveBack(),
      edit: () => desk.edit(),
      choose: (digit) => desk.chooseValue(digit) || say(t("Correct the label first: e.")),
      reject: () => desk.choose(desk.current?.chosen === null ? desk.current.label : null),
      agreed: (key) => (desk.form?.hasZero(key) ? desk.chooseValue(key) : desk.current && desk.choose(desk.current.label)),
      link: () => desk.link(desk.messages.currentIndex) || say(t("Correct the label first: e.")),
      words: () => desk.takeWords(),
      note: () => byId("note").focus(),
    };
    const refuse = () => say(t("This cannot be reviewed by you."));
    const refused = Object.fromEntries(Object.keys(writing).map((name) => [name, refuse]));
    return { ...reading, ...(this.page.read_only ? refused : writing) };
  }

  get corrected() {
    return this.desk.clusters.filter(({ chosen, label }) => chosen === null || !isSame(chosen, label));
  }

  count() {
    const n = this.corrected.length;
    byId("count").textContent = n ? t("{n} corrected", { n }) : String(this.desk.clusters.length);
  }

  accept() {
    if (this.corrected.length) return this.refuse(t("You have corrected labels: f accepts them as corrected."));
    return this.send({ verdict: "accepted" });
  }

  fix() {
    if (this.corrected.length) return this.send({ verdict: "fixed", payload: this.payload() });
    this.refuse(t("Correct a label first, then accept the answer as corrected."));
    return this.desk.edit();
  }

  giveBack() {
    if (this.page.locked) return say(this.page.locked);
    if (byId("note").value.trim()) return this.send({ verdict: "returned" });
    this.refuse(t("Say what has to change, then return it."));
    return byId("note").focus();
  }

  payload() {
    const kept = (layer) =>
      this.desk.clusters.filter((cluster) => cluster.layer === layer && cluster.chosen).map(({ chosen }) => chosen);
    return Object.fromEntries(this.layers.map((layer) => [layer.key, kept(layer)]));
  }

  async send(verdict) {
    if (this.sending) return;
    this.sending = true;
    say("Sending…");
    const { urls, version } = this.page;
    try {
      await send("POST", urls.review, { version, comment: byId("note").value, ...verdict });
      location.assign(urls.next);
    } catch (failure) {
      this.sending = false;
      if (!(failure instanceof RequestFailed)) throw failure;
      this.refuse(FAILED[failure.kind] ?? failure.message);
    }
  }

  refuse(text) {
    say(text);
    byId("verdict-error").textContent = text;
  }
}

new ReviewPage();
