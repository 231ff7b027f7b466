// What the server found wrong with the answer: uid -> field -> message.

/** @import { Parts } from "./types.d.ts" */

export class Problems {
  /** @param {Pick<Parts, "store" | "status">} parts */
  constructor({ store, status }) {
    this.store = store;
    this.status = status;
    this.byUid = {};
  }

  of(uid) {
    return this.byUid[uid];
  }

  count(layer) {
    return this.store.inLayer(layer).filter(({ uid }) => this.byUid[uid]).length;
  }

  // Returns those that concern no field of a label.
  replace(problems) {
    this.byUid = {};
    return problems.filter(({ path, message }) => {
      const { uid, field } = this.store.locate(path);
      if (!uid || !field) return true;
      (this.byUid[uid] ??= {})[field] ??= message;
      return false;
    });
  }

  // A label that is gone, deleted or undone, has nothing wrong any more.
  forgetMissing() {
    for (const uid of Object.keys(this.byUid)) {
      if (!this.store.label(uid)) for (const field of Object.keys(this.byUid[uid])) this.forget(uid, field);
    }
  }

  // What is written now may be right. Says whether anything was wrong there.
  forget(uid, field) {
    const problems = this.byUid[uid];
    if (!problems?.[field]) return false;
    delete problems[field];
    if (!Object.keys(problems).length) delete this.byUid[uid];
    if (!Object.keys(this.byUid).length) this.status.dismiss("problems");
    return true;
  }
}
