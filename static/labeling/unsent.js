// Unsent work, kept in the browser. Each open page has its own entry, so that one page's answer
// from the server never clears what another page could not send.
//
// It is kept twice. localStorage is written at once, also while the page goes away, but browsers
// bring it to the disk only seconds or minutes later. IndexedDB is on the disk within moments, so
// that it outlives a browser that is killed, but a page that goes away may not get to it any more.

import { Disk } from "./disk.js";

const EVERY_MS = 250; // how old what is kept may be while somebody types

export class Unsent {
  constructor({ user, assignment, client, storage, disk = new Disk() }) {
    this.prefix = `assay:unsent:${user}:${assignment}:`;
    this.key = this.prefix + client;
    this.storage = storage;
    this.disk = disk;
    this.hasRoom = true;
    this.waiting = null;
    this.timer = undefined;
  }

  get works() {
    return this.hasRoom || this.disk.works;
  }

  // The first change is written at once, those that follow it together.
  keep(work) {
    this.waiting = { ...work, at: new Date().toISOString() };
    if (this.timer === undefined) this.write();
  }

  write() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.waiting) return;
    const text = JSON.stringify(this.waiting);
    this.waiting = null;
    this.disk.put(this.key, text);
    try {
      this.storage.setItem(this.key, text);
      this.hasRoom = true;
    } catch {
      this.hasRoom = false; // full or blocked
    }
    this.timer = setTimeout(() => this.write(), EVERY_MS);
  }

  clear() {
    clearTimeout(this.timer);
    this.waiting = null;
    this.timer = undefined;
    this.forget(this.key);
  }

  forget(key) {
    this.disk.remove(key);
    try {
      this.storage.removeItem(key);
    } catch {
      // Storage is blocked, so nothing was kept in it either.
    }
  }

  // What earlier pages could not send and the server does not have, newest first.
  async leftovers(stored) {
    const leftovers = [];
    for (const [key, work] of await this.others()) {
      if (sameWork(work, stored)) this.forget(key);
      else leftovers.push({ key, ...work });
    }
    return leftovers.sort((a, b) => b.at.localeCompare(a.at));
  }

  // Of the two copies of an entry the newer one.
  async others() {
    const newest = new Map();
    for (const [key, text] of [...this.stored(), ...(await this.disk.entries(this.prefix))]) {
      const work = parse(text);
      if (!work || key === this.key) continue;
      if (!newest.has(key) || newest.get(key).at < work.at) newest.set(key, work);
    }
    return newest;
  }

  stored() {
    try {
      const keys = Array.from({ length: this.storage.length }, (_, at) => this.storage.key(at));
      const own = keys.filter((key) => key.startsWith(this.prefix));
      return own.map((key) => [key, this.storage.getItem(key)]);
    } catch {
      return [];
    }
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function sameWork(a, b) {
  return Boolean(a.empty) === Boolean(b.empty) && sameOpen(a, b) && canonical(a.payload) === canonical(b.payload);
}

// Which layers are not answered; what was kept or stored before they were asked says nothing of it.
function sameOpen({ unanswered: a }, { unanswered: b }) {
  return !a || !b || a.toSorted().join() === b.toSorted().join();
}

// The server may store keys in another order; no label at all has two spellings.
function canonical(payload) {
  const filled = Object.entries(payload ?? {}).filter(([, labels]) => labels.length);
  return written(Object.fromEntries(filled));
}

export const written = (value) => JSON.stringify(sorted(value));

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
