// Texts by key in IndexedDB. Where there is none, nothing is kept and `works` says so.

const NAME = "assay";
const STORE = "unsent";

export class Disk {
  constructor() {
    this.works = false;
    this.opened = open().then(
      (database) => {
        this.works = true;
        return database;
      },
      () => null, // blocked, as in some private windows
    );
  }

  put(key, text) {
    return this.write((store) => store.put(text, key));
  }

  remove(key) {
    return this.write((store) => store.delete(key));
  }

  // Transactions on one store run in the order in which they were made.
  async write(change) {
    const database = await this.opened;
    if (!database) return;
    try {
      const transaction = database.transaction(STORE, "readwrite");
      change(transaction.objectStore(STORE));
      transaction.commit();
      await settled(transaction);
      this.works = true;
    } catch {
      this.works = false; // the disk is full, or the browser has closed the database
    }
  }

  async entries(prefix) {
    const database = await this.opened;
    if (!database) return [];
    try {
      const store = database.transaction(STORE).objectStore(STORE);
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const [keys, texts] = await Promise.all([answer(store.getAllKeys(range)), answer(store.getAll(range))]);
      return keys.map((key, at) => [key, texts[at]]);
    } catch {
      return [];
    }
  }
}

async function open() {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
  return answer(request);
}

function answer(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}

function settled(transaction) {
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", resolve);
    transaction.addEventListener("abort", () => reject(transaction.error));
  });
}
