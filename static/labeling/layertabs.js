// The layers of the project as tabs over the labels, each with its count.

import { byId, el } from "./dom.js";

export class LayerTabs {
  constructor(layers, onShow) {
    this.layers = layers;
    this.onShow = onShow;
    this.root = byId("layer-tabs");
    this.tabs = layers.map((layer) => this.draw(layer));
    this.root.hidden = layers.length < 2;
    this.root.replaceChildren(...this.tabs.map(({ tab }) => tab));
    this.root.addEventListener("keydown", (event) => this.pressed(event));
  }

  draw(layer) {
    const count = el("span", { class: "badge" });
    const props = { type: "button", role: "tab", id: `tab-${layer.name}`, "aria-controls": "layer-panel" };
    const tab = el("button", props, `${layer.title} `, count);
    tab.addEventListener("click", () => this.onShow(layer));
    return { tab, count };
  }

  render(store, current) {
    this.current = this.layers.indexOf(current);
    for (const [at, { tab, count }] of this.tabs.entries()) {
      tab.setAttribute("aria-selected", String(at === this.current));
      tab.tabIndex = at === this.current ? 0 : -1;
      count.textContent = store.inLayer(this.layers[at]).length;
    }
    byId("layer-title").textContent = current.title;
    byId("label-count").textContent = store.inLayer(current).length;
    if (this.layers.length > 1) byId("layer-panel").setAttribute("aria-labelledby", `tab-${current.name}`);
  }

  step(by) {
    const { length } = this.layers;
    if (length < 2) return;
    this.onShow(this.layers[(this.current + by + length) % length]);
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
