// The end of the work on one conversation: submit or skip, and what the server finds wrong.

import { byId } from "./dom.js";
import { t } from "./texts.js";

const NOT_SKIPPED = {
  "signed-out": t("You are signed out: sign in again in another tab, then skip again."),
  unreachable: t("The server cannot be reached. Nothing was skipped; try again."),
};

export class Ending {
  constructor(page) {
    this.page = page;
    this.status = page.status;
  }

  async submit() {
    this.busy(true);
    this.status.dismiss("problems");
    try {
      await this.page.saving.submit();
    } catch (error) {
      this.busy(false);
      this.sayNotDone(error);
    }
  }

  async skip(reason) {
    try {
      await this.page.saving.skip(reason);
    } catch (error) {
      if (!error.kind) throw error;
      const isReached = error.kind === "refused" || error.kind === "conflict";
      throw new Error(isReached ? error.message : NOT_SKIPPED[error.kind]);
    }
  }

  sayNotDone(error) {
    if (error.kind === "conflict") return;
    if (!error.kind) throw error;
    if (error.kind === "refused") return this.showProblems(error.details?.problems ?? [], error);
    const reason =
      error.kind === "signed-out"
        ? t("you are signed out. Sign in again in another tab, then submit again.")
        : t("the server cannot be reached. Your work is kept; try again.");
    this.status.notice("problems", { kind: "bad", text: t("Not submitted: {reason}", { reason }) });
  }

  busy(isBusy) {
    for (const button of document.querySelectorAll("[data-action='submit']")) {
      button.disabled = isBusy;
    }
  }

  // What the server found wrong: at the fields, and the rest in the notice.
  showProblems(problems, error) {
    const general = this.markProblems(problems);
    this.status.notice("problems", { kind: "bad", text: [error.message, ...general, ...this.whereWrong()].join(" ") });
    this.goToFirstProblem();
  }

  markProblems(problems) {
    const { page } = this;
    page.problems = {};
    const general = [];
    for (const { path, message } of problems) {
      const { uid, field } = page.store.locate(path);
      if (uid && field) (page.problems[uid] ??= {})[field] ??= message;
      else if (path === "empty") page.labelling.sayAtEmpty(message);
      else general.push(message);
    }
    page.render();
    return general;
  }

  // Not every layer is in view.
  whereWrong() {
    const { layers, store, problems } = this.page;
    if (layers.length < 2) return [];
    const wrong = (layer) => store.inLayer(layer).filter(({ uid }) => problems[uid]).length;
    return layers
      .filter(wrong)
      .map((layer) => t("{layer}: {wrong} to correct.", { layer: layer.title, wrong: wrong(layer) }));
  }

  goToFirstProblem() {
    const { page } = this;
    const uid = page.store.labels.find((label) => page.problems[label.uid])?.uid;
    if (!uid) return byId("empty-error").textContent ? byId("empty").focus() : undefined;
    page.open(uid, { focus: false });
    const first = page.layer.fields.find((field) => page.problems[uid][field.name]);
    return page.form.focus(first?.name);
  }

  forgetProblem(field, { redraw = true } = {}) {
    const { page } = this;
    const problems = page.problems[page.openUid];
    if (!problems?.[field]) return;
    delete problems[field];
    if (!Object.keys(problems).length) delete page.problems[page.openUid];
    if (!Object.keys(page.problems).length) this.status.dismiss("problems");
    if (redraw) page.render();
  }
}
