// Unsent work, mirrored in the browser's storage. Each open page has its own entry, so that one
// page's answer from the server never clears what another page could not send.

export class Unsent {
  constructor({ user, assignment, client, storage }) {
    this.prefix = `assay:unsent:${user}:${assignment}:`;
    this.key = this.prefix + client;
    this.storage = storage;
    this.works = true;
  }

  keep(work) {
    try {
      this.storage.setItem(this.key, JSON.stringify({ ...work, at: new Date().toISOString() }));
      this.works = true;
    } catch {
      this.works = false; // full or blocked: the page asks before it is left
    }
  }

  clear() {
    this.forget(this.key);
  }

  forget(key) {
    try {
      this.storage.removeItem(key);
    } catch {
      // Storage is blocked, so nothing was kept either.
    }
  }

  // What earlier pages could not send and the server does not have, newest first.
  leftovers(stored) {
    const found = [];
    for (const key of this.keys()) {
      const work = parse(this.storage.getItem(key));
      if (!work || sameWork(work, stored)) this.forget(key);
      else found.push({ key, ...work });
    }
    return found.sort((a, b) => b.at.localeCompare(a.at));
  }

  forgetOthers() {
    for (const key of this.keys()) this.forget(key);
  }

  keys() {
    try {
      const all = Array.from({ length: this.storage.length }, (_, at) => this.storage.key(at));
      return all.filter((key) => key.startsWith(this.prefix) && key !== this.key);
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
  return Boolean(a.empty) === Boolean(b.empty) && canonical(a.payload) === canonical(b.payload);
}

// The server may store keys in another order; no label at all has two spellings.
function canonical(payload) {
  const filled = Object.entries(payload ?? {}).filter(([, labels]) => labels.length);
  return JSON.stringify(sorted(Object.fromEntries(filled)));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
