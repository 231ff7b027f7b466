// After a submission or a skip the next conversation follows at once; its page offers to take it back.

import { RequestFailed, send } from "./api.js";
import { keep, recall } from "./kept.js";
import { t } from "./texts.js";

const STORED = "assay:submitted";
const PLACE = "sessionStorage";
const TIME_MS = 10 * 60_000; // an older offer would surprise

export function remember({ urls, conversation }, { skipped = false } = {}) {
  if (!urls.reopen) return;
  keep(STORED, { reopen: urls.reopen, workspace: urls.workspace, conversation, skipped, at: Date.now() }, PLACE);
}

export class Submitted {
  /** @param {import("./status.js").Status} status */
  constructor(status) {
    this.status = status;
    this.last = recall(STORED, PLACE);
    keep(STORED, null, PLACE);
    if (!this.last || Date.now() - this.last.at >= TIME_MS) this.last = null;
    if (!this.last || this.last.workspace === location.pathname) return;
    const { conversation, skipped } = this.last;
    this.status.notice("submitted", {
      kind: "ok",
      text: skipped ? t("{conversation} skipped.", { conversation }) : t("{conversation} submitted.", { conversation }),
      actions: [[t("Undo (Ctrl+Z)"), () => this.undo()]],
    });
  }

  undo() {
    if (!this.last || !document.getElementById("notice-submitted")) return false;
    this.reopen(this.last);
    return true;
  }

  async reopen({ reopen, workspace }) {
    try {
      await send("POST", reopen, {});
      keep(STORED, null, PLACE);
      location.assign(workspace);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      const isReached = error.kind === "refused" || error.kind === "conflict";
      const text = isReached ? error.message : t("The server cannot be reached. Nothing was undone; try again.");
      this.status.notice("submitted", { kind: "bad", text });
    }
  }
}
