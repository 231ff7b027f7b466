// Saves a page's work in the background and never loses it.
//
// Of one page (`client`) the highest `seq` wins on the server, so requests may overlap, repeat or
// arrive late. Normally one is under way; leaving the page sends at once, whatever hangs.

/** @import { Work } from "./types.d.ts" */

import { RequestFailed } from "./api.js";

const DEBOUNCE_MS = 600;
const LONGEST_WAIT_MS = 3_000; // who types without a pause is saved all the same
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 15_000;
const FLUSH_TRIES = 30;
const FLUSH_PAUSE_MS = 100;

export class Autosave {
  /**
   * `work()` is what the page shows; `report(state, details)` hears what happens: unsaved, saving,
   * saved, retrying, signed-out, conflict, refused, closed, taken.
   *
   * @param {{
   *   send: (body: object, options: { leaving?: boolean }) => Promise<any>,
   *   work: () => Work,
   *   report: (state: string, details?: any) => void,
   *   unsent: import("./unsent.js").Unsent,
   *   client: string,
   *   version: number,
   * }} parts
   */
  constructor({ send, work, report, unsent, client, version }) {
    this.send = send;
    this.work = work;
    this.report = report;
    this.unsent = unsent;
    this.client = client;
    this.version = version;
    this.seq = 0;
    this.acknowledged = 0; // the highest seq that the server has answered
    this.changes = 0;
    this.savedChanges = 0;
    this.sentLeaving = 0; // the changes that the last sending on leaving held
    this.underWay = 0;
    this.failures = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | null} */
    this.waitingSince = null; // when the first change that no request holds was made
    this.stopped = false;
    this.lastDraft = null; // {changes, seq} of the last save
    this.lastWord = null; // {changes, body} of the last submission or skip
  }

  get isDirty() {
    return this.changes > this.savedChanges;
  }

  changed() {
    this.changes += 1;
    this.mirror();
    if (this.stopped) return;
    if (!this.failures) this.report("unsaved");
    this.waitingSince ??= performance.now();
    const left = this.waitingSince + LONGEST_WAIT_MS - performance.now();
    this.plan(Math.max(0, Math.min(DEBOUNCE_MS, left)));
  }

  // Save now, whatever the debounce or the backoff says.
  async now() {
    clearTimeout(this.timer);
    if (this.stopped || this.underWay || !this.isDirty) return;
    await this.save();
  }

  // Before something that is about what the server has; false if the last change is not there yet.
  async flush() {
    for (let tries = 0; tries < FLUSH_TRIES && (this.isDirty || this.underWay); tries += 1) {
      await this.now();
      if (this.failures || this.stopped) break;
      if (this.underWay) await new Promise((resolve) => setTimeout(resolve, FLUSH_PAUSE_MS));
    }
    return !this.isDirty && !this.underWay;
  }

  // The page goes away or is hidden: do not wait for anything that may hang.
  leave() {
    this.unsent.write();
    if (this.stopped || !this.isDirty || this.sentLeaving === this.changes) return;
    clearTimeout(this.timer);
    this.sentLeaving = this.changes;
    this.save({ leaving: true });
  }

  // Submit or skip: the page's last word, so no draft is sent next to it. Pressed again without a
  // change it repeats the same request, which the server knows if only its answer was lost.
  async conclude(post) {
    clearTimeout(this.timer);
    this.stopped = true;
    const { changes } = this;
    if (this.lastWord?.changes !== changes) this.lastWord = { changes, body: this.body() };
    try {
      const reply = await post({ ...this.lastWord.body, ...this.work() });
      if (this.changes === changes) this.adopt(reply.version);
      this.stop();
      return reply;
    } catch (error) {
      this.stopped = false;
      if (!(error instanceof RequestFailed)) throw error;
      const isTaken = error.code === "place_taken"; // a draft is stored all the same
      if (error.kind === "conflict" && !isTaken) this.conflict(error);
      else if (this.isDirty) this.plan(DEBOUNCE_MS);
      if (isTaken) this.report("taken", error);
      throw error;
    }
  }

  // After a conflict or an explicit restore: what this page shows replaces that version.
  continueFrom(version) {
    this.version = version;
    this.stopped = false;
    this.failures = 0;
    this.changes += 1;
    return this.now();
  }

  // The page now shows exactly what the server has.
  adopt(version) {
    this.version = version;
    this.stopped = false;
    this.savedChanges = this.changes;
    this.unsent.clear();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // What a save, a submission and a skip have in common; each takes the next number.
  body(seq = this.seq + 1) {
    this.seq = seq;
    this.mirror();
    return { base_version: this.version, client: this.client, seq: this.seq, ...this.work() };
  }

  // Tried again without a change it keeps its number: only the answer may have been lost, and then
  // the server knows it.
  draft() {
    const { changes, seq } = this;
    const isTriedAgain = this.lastDraft?.changes === changes && this.lastDraft.seq === seq;
    const body = this.body(isTriedAgain ? seq : seq + 1);
    this.lastDraft = { changes, seq: body.seq };
    return body;
  }

  mirror() {
    const { payload, empty, unanswered } = this.work();
    this.unsent.keep({ payload, empty, unanswered, base_version: this.version });
  }

  plan(delayMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), delayMs);
  }

  async save({ leaving = false } = {}) {
    const body = this.draft();
    const sentChanges = this.changes;
    this.waitingSince = null;
    if (!leaving) this.underWay += 1;
    if (!this.failures) this.report("saving");
    try {
      const reply = await this.send(body, { leaving });
      this.answered(body.seq, sentChanges, reply);
    } catch (error) {
      this.failed(body.seq, sentChanges, error);
    } finally {
      if (!leaving) this.underWay -= 1;
    }
    if (!this.stopped && this.isDirty) this.plan(this.failures ? this.backoff() : DEBOUNCE_MS);
  }

  answered(seq, sentChanges, reply) {
    if (seq < this.acknowledged) return;
    this.acknowledged = seq;
    if (seq > this.lastWord?.body.seq) this.lastWord = null; // it did not arrive, and is too old by now
    this.failures = 0;
    this.version = reply.version;
    this.savedChanges = Math.max(this.savedChanges, sentChanges);
    if (this.isDirty) return this.report("unsaved");
    this.unsent.clear();
    this.report("saved", reply);
  }

  failed(seq, sentChanges, error) {
    if (seq <= this.acknowledged) return; // it has arrived in another request, or a later one has
    this.failures += 1;
    this.sentLeaving = 0;
    if (error.kind === "conflict") return this.conflict(error);
    if (error.kind === "refused") {
      // The same labels would be refused again; the next change tries again.
      this.failures = 0;
      this.savedChanges = sentChanges;
      return this.report("refused", error);
    }
    this.report(error.kind === "signed-out" ? "signed-out" : "retrying", error);
  }

  conflict(error) {
    this.stop();
    this.report(error.code === "stale_version" ? "conflict" : "closed", error);
  }

  backoff() {
    return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1));
  }
}
