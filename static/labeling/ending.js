// The end of the work on one conversation: submit or skip, and what the server finds wrong.

import { RequestFailed } from "./api.js";
import { all, byId } from "./dom.js";
import { t } from "./texts.js";

/** @import { Parts } from "./types.d.ts" */

const MOST_NAMED = 3; // labels whose fields a notice lists
const NOT_SKIPPED = {
  "signed-out": t("You are signed out: sign in again in another tab, then skip again."),
  unreachable: t("The server cannot be reached. Nothing was skipped; try again."),
};

export class Ending {
  /** @param {Pick<Parts, "view" | "store" | "status" | "saving" | "problems" | "sayAtEmpty">} parts */
  constructor({ view, store, status, saving, problems, sayAtEmpty }) {
    this.view = view;
    this.store = store;
    this.status = status;
    this.saving = saving;
    this.problems = problems;
    this.sayAtEmpty = sayAtEmpty;
    this.leftOpen = ""; // the layers that are not answered, once that was said
  }

  // A layer without labels of which nothing is said is submitted as not answered, if it is meant.
  mayLeaveOpen() {
    const { unanswered, layers } = this.store;
    const names = unanswered.map(({ title }) => title).join(", ");
    if (!unanswered.length || unanswered.length === layers.length || names === this.leftOpen) return true;
    this.leftOpen = names;
    const text = t("Not answered: {names}. Say “nothing here” there, or submit again to leave it open.", { names });
    this.status.notice("problems", { kind: "warn", text });
    this.view.showLayer(unanswered[0]);
    return false;
  }

  async submit() {
    if (!this.mayLeaveOpen()) return;
    this.busy(true);
    this.status.dismiss("problems");
    try {
      await this.saving.submit();
    } catch (error) {
      this.busy(false);
      this.sayNotDone(error);
    }
  }

  async skip(reason) {
    try {
      await this.saving.skip(reason);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const isReached = error.kind === "refused" || error.kind === "conflict";
      throw new Error(isReached ? error.message : NOT_SKIPPED[error.kind], { cause: error });
    }
  }

  sayNotDone(error) {
    if (error.kind === "conflict") return;
    if (!(error instanceof RequestFailed)) throw error;
    if (error.kind === "refused") return this.showProblems(error.details?.problems ?? [], error);
    const reason =
      error.kind === "signed-out"
        ? t("you are signed out. Sign in again in another tab, then submit again.")
        : t("the server cannot be reached. Your work is kept; try again.");
    this.status.notice("problems", { kind: "bad", text: t("Not submitted: {reason}", { reason }) });
  }

  busy(isBusy) {
    for (const button of all("[data-action='submit']")) button.toggleAttribute("disabled", isBusy);
  }

  // What the server found wrong: at the fields, and the rest in the notice.
  showProblems(problems, error) {
    const details = this.listProblems(problems);
    // Where there is no label at all, that is said at “nothing here” alone.
    if (details.length || !problems.length) {
      this.status.notice("problems", { kind: "bad", text: [error.message, ...details].join(" ") });
    }
    this.goToFirstProblem();
  }

  // Marks what is wrong, and returns it in words.
  listProblems(problems) {
    return [...this.markProblems(problems), ...this.whatIsMissing(), ...this.whereWrong()];
  }

  // Returns what concerns no field.
  markProblems(problems) {
    const unplaced = this.problems.replace(problems);
    for (const { path, message } of unplaced) if (path === "empty") this.sayAtEmpty(message);
    this.view.render();
    return unplaced.filter(({ path }) => path !== "empty").map(({ message }) => message);
  }

  // The first labels by name, each with its fields.
  whatIsMissing() {
    const wrong = this.store.labels.filter(({ uid }) => this.problems.of(uid));
    const lines = wrong.slice(0, MOST_NAMED).map(({ uid }) => {
      const fields = this.store.layerOf(uid)?.fields ?? [];
      const names = fields.filter(({ name }) => this.problems.of(uid)[name]).map(({ label }) => label);
      return `${this.store.name(uid)}: ${names.join(", ")}.`;
    });
    return wrong.length > MOST_NAMED ? [...lines, "…"] : lines;
  }

  // Not every layer is in view.
  whereWrong() {
    const { layers } = this.view;
    if (layers.length < 2) return [];
    return layers
      .map((layer) => ({ layer: layer.title, wrong: this.problems.count(layer) }))
      .filter(({ wrong }) => wrong)
      .map((counted) => t("{layer}: {wrong} to correct.", counted));
  }

  goToFirstProblem() {
    const { view, problems } = this;
    const uid = this.store.labels.find((label) => problems.of(label.uid))?.uid;
    if (!uid) return byId("empty-error").textContent ? byId("empty").focus() : undefined;
    view.open(uid, { focus: false });
    const wrong = problems.of(uid) ?? {};
    return view.form?.focus(view.layer.fields.find((field) => wrong[field.name])?.name);
  }
}
