// The layers of the project as tabs over the labels, each with its count and what is to correct.

import { byId, el, setAttribute, setText, showIf } from "./dom.js";
import { t } from "./texts.js";

/** @import { Layer } from "./types.d.ts" */

export class LayerTabs {
  /**
   * @param {Layer[]} layers
   * @param {(layer: Layer) => void} onShow
   */
  constructor(layers, onShow) {
    this.layers = layers;
    this.onShow = onShow;
    this.root = byId("layer-tabs");
    this.current = -1; // before it is drawn
    this.tabs = layers.map((layer) => this.draw(layer));
    this.root.hidden = layers.length < 2;
    this.root.replaceChildren(...this.tabs.map(({ tab }) => tab));
    this.root.addEventListener("keydown", (event) => this.pressed(event));
  }

  draw(layer) {
    const count = el("span", { class: "badge" });
    const wrong = el("span", { class: "badge bad", hidden: true });
    const name = el("span", { class: "layer-name" }, layer.title);
    const props = { type: "button", role: "tab", id: `tab-${layer.name}`, title: layer.title, "aria-controls": "layer-panel" };
    const tab = el("button", props, name, " ", count, wrong);
    tab.addEventListener("click", () => this.onShow(layer));
    return { tab, count, wrong };
  }

  render(store, current, problems) {
    const before = this.current;
    this.current = this.layers.indexOf(current);
    for (const [at, { tab, count, wrong }] of this.tabs.entries()) {
      const labels = store.inLayer(this.layers[at]);
      setAttribute(tab, "aria-selected", at === this.current);
      setAttribute(tab, "tabindex", at === this.current ? 0 : -1);
      const isNothing = store.isNothing(this.layers[at]);
      setText(count, isNothing ? t("nothing") : labels.length);
      count.classList.toggle("ok", isNothing);
      this.showWrong(wrong, problems.count(this.layers[at]));
    }
    if (before >= 0 && before !== this.current) this.bringCurrent();
    setText(byId("layer-title"), current.title);
    setText(byId("label-count"), store.inLayer(current).length);
    if (this.layers.length > 1) setAttribute(byId("layer-panel"), "aria-labelledby", `tab-${current.name}`);
  }

  showWrong(badge, wrong) {
    showIf(badge, wrong > 0);
    setText(badge, wrong ? t("{wrong} to correct", { wrong }) : "");
  }

  step(by) {
    const { length } = this.layers;
    if (length < 2) return;
    this.onShow(this.layers[(this.current + by + length) % length]);
  }

  // Of many layers not all tabs are in view.
  bringCurrent() {
    this.tabs[this.current].tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // What a row of tabs does with arrows when it has the focus.
  pressed(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.step(by);
    this.tabs[this.current].tab.focus();
  }
}
