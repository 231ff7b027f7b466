// What the page says: the save state, notices that stay, and the live region for screen readers.

import { byId, clockTime, el, setText } from "./dom.js";
import { t } from "./texts.js";

const TEXTS = {
  unsaved: () => t("Not saved yet"),
  saving: () => t("Saving…"),
  saved: ({ saved_at, version }) => t("Saved {time} · rev {version}", { time: clockTime(saved_at), version }),
  retrying: () => t("Not saved – retrying"),
  "signed-out": () => t("Not saved – signed out"),
  conflict: () => t("Not saved – changed elsewhere"),
  refused: () => t("Not saved – refused"),
  closed: () => t("Not saved"),
};
const QUIET = new Set(["unsaved", "saving", "saved"]);
const ANNOUNCE_EVERY_MS = 30_000; // a save every second is noise to a listener
const HINT_MS = 3_000;

export class Status {
  constructor() {
    /** @type {number | undefined} */
    this.hintTimer = undefined;
    this.line = byId("save-state");
    this.live = byId("live");
    this.hint = byId("hint");
    this.notices = byId("notices");
    this.lastAnnounced = 0;
    this.state = "loaded";
  }

  show(state, details = {}) {
    const text = TEXTS[state](details);
    const before = this.state;
    this.state = state;
    setText(this.line, text);
    if (state !== before) this.line.dataset.state = state;
    const recovered = state === "saved" && !QUIET.has(before);
    const isDue = state === "saved" && Date.now() - this.lastAnnounced > ANNOUNCE_EVERY_MS;
    if (recovered || isDue || (!QUIET.has(state) && state !== before)) this.announce(text);
  }

  announce(text) {
    this.lastAnnounced = Date.now();
    setText(this.live, "");
    // A change of text is read out even if it says the same as before.
    setTimeout(() => (this.live.textContent = text), 50);
  }

  // The answer to a key: heard, and seen for a moment.
  say(text) {
    this.announce(text);
    setText(this.hint, text);
    this.hint.classList.add("shown");
    clearTimeout(this.hintTimer);
    this.hintTimer = setTimeout(() => this.hint.classList.remove("shown"), HINT_MS);
  }

  /**
   * A notice stays until it is taken away; `actions` are buttons.
   *
   * @param {string} id
   * @param {{ kind?: string, text: string, actions?: [string, () => unknown][] }} content
   */
  notice(id, { kind = "info", text, actions = [] }) {
    this.dismiss(id);
    const buttons = actions.map(([name, run]) => {
      const button = el("button", { type: "button", class: "button small" }, name);
      button.addEventListener("click", run);
      return button;
    });
    const box = el("div", { class: `notice ${kind}`, id: `notice-${id}` }, el("span", {}, text));
    if (buttons.length) box.append(el("span", { class: "row" }, ...buttons));
    this.notices.append(box);
    box.scrollIntoView({ block: "nearest" });
    this.announce(text);
    return box;
  }

  dismiss(id) {
    const notice = byId(`notice-${id}`);
    if (this.notices.contains(notice)) notice.remove();
  }

  // What is said from now on is about a conversation that is not shown any more.
  end() {
    this.live = el("p");
  }
}
