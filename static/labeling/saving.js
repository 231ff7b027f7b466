// Everything between the page's work and the server: autosave, conflicts, leftovers, the end.

import { RequestFailed, send } from "./api.js";
import { Autosave } from "./autosave.js";
import { ActiveTime } from "./clock.js";
import { byId, clockTime, el, newUid } from "./dom.js";
import { remember } from "./submitted.js";
import { t } from "./texts.js";
import { sameWork, Unsent } from "./unsent.js";
import { askWhichVersion } from "./versions.js";

/** @import { Parts } from "./types.d.ts" */

const LOOK_AGAIN_MS = [0, 500, 1_500, 0];

export class Saving {
  /** @param {Pick<Parts, "annotation" | "store" | "status" | "showHints" | "showProblems" | "goOn" | "signal">} parts */
  constructor({ annotation, store, status, showHints, showProblems, goOn, signal }) {
    this.annotation = annotation;
    this.store = store;
    this.status = status;
    this.showHints = showHints;
    this.showProblems = showProblems;
    this.goOn = goOn;
    this.signal = signal;
    this.activeTime = new ActiveTime(annotation.active_seconds, signal);
    this.unsent = new Unsent({
      user: annotation.user,
      assignment: annotation.assignment,
      client: newUid(),
      storage: window.localStorage,
    });
    this.autosave = new Autosave({
      send: (body, options) => send("PUT", annotation.urls.save, body, options),
      work: () => this.work(),
      report: (state, details) => this.report(state, details),
      unsent: this.unsent,
      client: this.unsent.key.slice(this.unsent.prefix.length),
      version: annotation.version,
    });
    this.offers = [];
    this.listen();
    this.offerLeftovers();
  }

  work() {
    const { payload, said } = this.store;
    return { payload, ...said, active_seconds: this.activeTime.seconds };
  }

  listen() {
    this.store.onChange(() => this.autosave.changed());
    const on = (target, type, act) => target.addEventListener(type, act, { signal: this.signal });
    on(window, "pagehide", () => this.autosave.leave());
    on(window, "online", () => this.autosave.now());
    on(window, "focus", () => this.autosave.now());
    on(document, "visibilitychange", () => {
      if (document.visibilityState === "hidden") this.autosave.leave();
    });
    on(window, "beforeunload", (event) => {
      if (this.mayLose) event.preventDefault();
    });
  }

  // Whether leaving loses work: the browser's storage could not keep it either.
  get mayLose() {
    return this.autosave.isDirty && !this.unsent.works;
  }

  // What is still on its way when another conversation is shown is sent, and else kept in the browser.
  report(state, details) {
    if (this.signal.aborted) return undefined;
    if (state === "taken") return this.sayTaken(details);
    this.status.show(state, details);
    if (state === "saved") {
      for (const id of ["signed-out", "refused"]) this.status.dismiss(id);
      if (details.hints) this.showHints(details.hints);
    }
    if (state === "signed-out") this.saySignedOut();
    if (state === "refused") this.sayRefused(details);
    if (state === "conflict") this.resolve(details.details);
    if (state === "closed") this.sayClosed(details);
    return undefined;
  }

  saySignedOut() {
    if (byId("notice-signed-out")) return;
    this.status.notice("signed-out", {
      kind: "warn",
      text: t("You are signed out: sign in again in another tab. Your work is kept here."),
      actions: [
        [t("Sign in"), () => window.open("/sign-in/", "_blank")],
        [t("Try again"), () => this.autosave.now()],
      ],
    });
  }

  sayRefused(error) {
    const details = this.showProblems(error.details?.problems ?? []);
    const text = [error.message || t("The server refused this."), ...details].join(" ");
    this.status.notice("refused", { kind: "bad", text });
  }

  // The place is gone, but the draft is stored all the same.
  sayTaken({ message }) {
    this.status.notice("closed", { kind: "bad", text: message, actions: [[t("Next conversation"), () => this.goOn()]] });
  }

  // Nothing of this page is stored any more. What is written here stays in the browser.
  sayClosed({ code, message }) {
    const canReopen = code === "already_submitted" && this.annotation.urls.reopen;
    /** @type {[string, () => unknown]} */
    const wayOut = canReopen
      ? [t("Reopen and compare"), () => this.reopen()]
      : [t("Save my text as a file"), () => saveAsFile(this.annotation.conversation, this.work())];
    const kept = t("What this page shows is not saved; it is kept in this browser.");
    this.status.notice("closed", { kind: "bad", text: `${message} ${kept}`, actions: [wayOut, [t("Next conversation"), () => this.goOn()]] });
  }

  // Submitted elsewhere: as a draft again it can be put together with what this page has.
  async reopen() {
    try {
      await send("POST", this.annotation.urls.reopen, {});
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const message = error.message || t("It is not reopened: the server cannot be reached.");
      return this.sayClosed({ code: error.code || "already_submitted", message });
    }
    this.status.dismiss("closed");
    return this.autosave.continueFrom(this.autosave.version);
  }

  async resolve(details) {
    const theirs = { payload: details.payload, empty: details.empty, unanswered: details.unanswered };
    this.status.dismiss("conflict");
    if (sameWork(this.work(), theirs)) return this.takeTheirs(theirs, details.current_version);
    const choice = await askWhichVersion(this.store.layers, this.work(), theirs);
    if (choice === "mine") await this.autosave.continueFrom(details.current_version);
    else if (choice === "theirs") this.takeTheirs(theirs, details.current_version);
    else this.askAgain(details);
  }

  takeTheirs(theirs, version) {
    if (!sameWork(this.work(), theirs)) this.store.replace(theirs);
    this.autosave.adopt(version);
    this.status.show("saved", { saved_at: new Date(), version });
  }

  askAgain(details) {
    this.status.notice("conflict", {
      kind: "bad",
      text: t("This was changed in another window. Nothing is saved until you choose a version."),
      actions: [[t("Compare versions"), () => this.resolve(details)]],
    });
  }

  // What was sent on leaving may arrive only after this page was drawn: look again for a moment.
  async offerLeftovers() {
    for (const delayMs of this.annotation.read_only ? [0] : LOOK_AGAIN_MS) {
      const leftovers = await this.unsent.leftovers(this.annotation);
      this.offers.forEach((id) => this.status.dismiss(id));
      this.offers = leftovers.map((work) => this.offer(work));
      if (!leftovers.length || this.autosave.changes || this.annotation.read_only) return undefined;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await this.refresh();
    }
    return undefined;
  }

  async refresh() {
    const current = await send("GET", this.annotation.urls.save).catch(() => null);
    if (!current || current.version <= this.annotation.version || this.autosave.changes) return;
    Object.assign(this.annotation, current);
    this.store.load(current);
    this.autosave.adopt(current.version);
    this.status.show("saved", current);
  }

  offer(work) {
    const id = `leftover-${work.key.split(":").at(-1)}`;
    const since = this.annotation.saved_at > work.at ? t(" (something else was saved after it)") : "";
    const settle = () => {
      this.unsent.forget(work.key);
      this.status.dismiss(id);
    };
    this.status.notice(id, {
      kind: "warn",
      text: t("Unsent work from {time} was found in this browser{since}.", { time: clockTime(work.at), since }),
      actions: [this.wayBack(work, settle), [t("Discard"), settle]],
    });
    return id;
  }

  /** @returns {[string, () => unknown]} */
  wayBack(work, settle) {
    const { conversation, read_only: isReadOnly, urls } = this.annotation;
    if (isReadOnly && urls.reopen) return [t("Reopen to restore it"), () => byId("reopen").click()];
    if (isReadOnly) return [t("Save it as a file"), () => saveAsFile(conversation, work)];
    const restore = () => {
      this.store.replace(work);
      settle();
    };
    return [t("Restore unsent work from {time}", { time: clockTime(work.at).slice(0, 5) }), restore];
  }

  async now() {
    await this.autosave.now();
    if (!this.autosave.isDirty) this.status.announce(this.status.line.textContent);
  }

  async submit() {
    await this.autosave.conclude((body) => send("POST", this.annotation.urls.submit, body));
    remember(this.annotation);
    if (!this.autosave.isDirty) return this.goOn();
    this.status.show("closed");
    const message = t("Submitted as it was when you pressed the key, without what you wrote since.");
    return this.sayClosed({ code: "already_submitted", message });
  }

  async skip(reason) {
    const { urls } = this.annotation;
    const reply = await this.autosave.conclude((body) => send("POST", urls.skip, { ...body, reason }));
    if (reply.can_reopen) remember(this.annotation, { skipped: true });
    this.goOn();
  }
}

function saveAsFile(name, { payload, empty, unanswered }) {
  const file = new Blob([JSON.stringify({ ...payload, empty, unanswered }, null, 2)], { type: "application/json" });
  const link = el("a", { href: URL.createObjectURL(file), download: `${name}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
