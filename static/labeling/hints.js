// Notes on the wording of labels, as the answer to a save brings them.

/** @import { Annotation, Hint } from "./types.d.ts" */

export class Hints {
  /** @param {Annotation} annotation */
  constructor({ hints }) {
    this.isOn = hints;
    /** @type {Hint[]} */
    this.hints = [];
  }

  replace(hints) {
    this.hints = hints;
  }

  // The first one at each field of a label.
  of(uid) {
    const own = this.hints.filter((hint) => hint.uid === uid);
    return new Map(own.toReversed().map((hint) => [hint.field, hint]));
  }
}
