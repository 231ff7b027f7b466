// Notes on the wording of labels, as the answer to a save brings them. What is dismissed stays away.

import { keep, recall } from "./kept.js";

/** @import { Annotation, Hint } from "./types.d.ts" */

const MOST = 500; // dismissed hints that are remembered for one conversation

export class Hints {
  /** @param {Annotation} annotation */
  constructor({ hints, user, assignment }) {
    this.isOn = hints;
    this.key = `assay:hints:${user}:${assignment}`;
    /** @type {Hint[]} */
    this.hints = [];
    this.dismissed = new Set(recall(this.key) ?? []);
  }

  replace(hints) {
    this.hints = hints;
  }

  // The first one at each field of a label: the next one follows when it is dismissed.
  of(uid) {
    const left = this.hints.filter((hint) => hint.uid === uid && !this.dismissed.has(nameOf(hint)));
    return new Map(left.toReversed().map((hint) => [hint.field, hint]));
  }

  dismiss(hint) {
    this.dismissed.add(nameOf(hint));
    keep(this.key, [...this.dismissed].slice(-MOST));
  }
}

const nameOf = ({ uid, field, kind }) => `${uid} ${field} ${kind}`;
