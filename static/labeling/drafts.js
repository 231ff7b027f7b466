// A decision in the making, kept in this browser until the server has it.

export class Draft {
  constructor(name) {
    this.name = `assay:decision:${name}`;
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(this.name) ?? "null");
    } catch {
      return null; // storage is blocked or was changed by hand: begin again
    }
  }

  // False when this browser keeps nothing.
  write(state) {
    try {
      localStorage.setItem(this.name, JSON.stringify(state));
      return true;
    } catch {
      return false;
    }
  }

  remove() {
    try {
      localStorage.removeItem(this.name);
    } catch {
      // Storage is blocked, so there is nothing to remove.
    }
  }
}
