// One cluster: what the annotators meant alike, each version in a column, and what is decided.

import { drawValue } from "./details.js";
import { el } from "./dom.js";
import { LabelForm } from "./form.js";
import { headingOf } from "./layers.js";
import { nameStack } from "../stacks.js";
import { t } from "./texts.js";

/** @import { Cluster, ClusterHandlers } from "./types.d.ts" */

const NAMES = new Set(["uid", "id", "origin", "suggestion", "adopted_from", "uids"]);
const UNORDERED = new Set(["source_messages", "evidence", "triggered_by", "arguments"]);

// Whether two labels say the same; names and idle order say nothing.
export const isSame = (a, b) => JSON.stringify(content(a)) === JSON.stringify(content(b));

function content(label) {
  const names = Object.keys(label).filter((name) => !NAMES.has(name) && isFilled(label[name]));
  return names.sort().map((name) => [name, plain(name, label[name])]);
}

const isFilled = (value) => value !== null && value !== undefined && value !== "" && value.length !== 0;

function plain(name, value) {
  if (!Array.isArray(value)) return typeof value === "object" ? content(value) : value;
  const items = value.map((item) => (typeof item === "object" ? content(item) : item));
  return UNORDERED.has(name) ? items.map((item) => JSON.stringify(item)).sort() : items;
}

const only = ({ name }, label) => ({ [name]: label[name] });

/**
 * Whether each field is somebody's, or what most of them say.
 * @param {Cluster} cluster
 */
export function isMixed({ chosen, label, sides, tied }) {
  const given = sides.filter((side) => side.label).map((side) => side.label);
  return Object.keys(chosen ?? {}).every((name) => {
    const known = tied?.includes(name) ? given : [...given, label];
    return NAMES.has(name) || known.some((one) => isSame(only({ name }, one), only({ name }, chosen)));
  });
}

export class ClusterCard {
  /**
   * @param {Cluster} cluster
   * @param {number} at
   * @param {ClusterHandlers} handlers
   */
  constructor(cluster, at, handlers) {
    this.cluster = cluster;
    this.at = at;
    this.handlers = handlers;
    this.title = el("span", { class: "label-title" });
    this.meta = el("span", { class: "label-meta" });
    this.head = el(
      "button",
      { type: "button", class: "label-head", "aria-expanded": "false" },
      el("span", { class: "label-id" }, String(at + 1)),
      this.title,
      this.meta,
    );
    this.head.addEventListener("click", () => handlers.show());
    this.body = el("div", { class: "cluster-body" });
    this.root = el("li", { class: "cluster" }, this.head, this.body);
    this.form = null;
  }

  focus() {
    this.head.focus({ preventScroll: true });
  }

  get missing() {
    return this.cluster.sides.filter((side) => !side.label);
  }

  render({ isCurrent, isEdited, named }) {
    const { cluster } = this;
    this.named = named;
    this.root.dataset.state = stateOf(cluster, this.missing);
    this.root.classList.toggle("current", isCurrent);
    this.root.classList.toggle("left-out", cluster.chosen === null);
    this.head.setAttribute("aria-expanded", String(isCurrent));
    const label = cluster.chosen ?? cluster.label;
    this.title.textContent = headingOf(cluster.layer, label, this.handlers.store()) || t("Untitled");
    this.meta.replaceChildren(...this.badges());
    if (isEdited) this.showForm();
    else this.showVersions(isCurrent);
  }

  badges() {
    const { cluster } = this;
    const likely = this.missing.filter((side) => side.perhaps);
    const missing = this.missing.filter((side) => !side.perhaps);
    const state = { ...STATES[cluster.how] };
    if (cluster.how === "answer") state.word = cluster.layer.title;
    return [
      el("span", { class: `badge ${state.badge}` }, state.word),
      missing.length
        ? el("span", { class: "badge missing" }, t("missing: {names}", { names: this.namesOf(missing) }))
        : null,
      likely.length ? el("span", { class: "badge info" }, t("perhaps the same: {names}", { names: this.namesOf(likely) })) : null,
      el("span", { class: "decided" }, this.decided()),
    ].filter((badge) => badge !== null);
  }

  namesOf(sides) {
    return sides.map((side) => this.nameOf(side)).join(", ");
  }

  nameOf(side) {
    return this.named ? side.annotator : side.letter;
  }

  // What is decided, in words.
  decided() {
    const { chosen, how, label, sides } = this.cluster;
    if (chosen === undefined) return t("not decided");
    if (chosen === null) return t("→ left out");
    if (["unanimous", "majority"].includes(how) && isSame(chosen, label)) return t("→ as agreed");
    if (how === "answer") return isSame(chosen, label) ? "" : t("→ corrected");
    const from = sides.filter((side) => side.label && isSame(chosen, side.label));
    if (from.length) return `→ ${from.map((side) => this.nameOf(side)).join(", ")}`;
    if (this.cluster.tied?.length && isMixed(this.cluster)) return t("→ field by field");
    return how === "added" ? t("→ added") : t("→ edited");
  }

  showVersions(isCurrent) {
    this.form = null;
    this.body.replaceChildren(...(isCurrent ? this.versions() : []));
  }

  // The form stays the same while its values change, so that the focus stays in its field.
  showForm() {
    const { cluster, handlers } = this;
    if (!cluster.chosen) return;
    if (!this.form) {
      this.form = new LabelForm(cluster.layer, cluster.chosen, t("Label {at}", { at: this.at + 1 }), handlers.form);
      this.body.replaceChildren(this.form.root);
    }
    this.form.show(cluster.chosen);
  }

  versions() {
    const { cluster, handlers } = this;
    const sides = [...cluster.sides, ...this.extraSides()];
    const gold = this.showsGold ? [el("th", { scope: "col" }, t("Gold"))] : [];
    const head = el("tr", {}, el("th", { scope: "col" }, t("Field")), ...gold, ...sides.map((side, at) => this.column(side, at)));
    const rows = cluster.layer.fields.map((field) => this.row(field, sides));
    const table = el("table", { class: "table compared versions-table stacks" }, el("thead", {}, head), el("tbody", {}, ...rows));
    nameStack(table);
    const scroll = el("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": t("Versions") }, table);
    return handlers.readOnly ? [scroll] : [scroll, this.actions()];
  }

  // The label as it would be frozen stands first, if most people have it.
  get showsGold() {
    const { how, tied } = this.cluster;
    return ["unanimous", "majority", "single"].includes(how) || Boolean(tied?.length);
  }

  // What would be frozen in a field, and who says so where they differ.
  gold(field) {
    const { chosen, label, tied, settled, fields, sides } = this.cluster;
    if (chosen === null) return el("td", { class: "gold" }, "–");
    const isOpen = chosen === undefined && tied?.includes(field.name) && !(settled && field.name in settled);
    if (isOpen) return el("td", { class: "gold" }, el("span", { class: "badge bad" }, t("disputed")));
    const values = chosen ?? { ...label, ...settled };
    const same = sides.filter((side) => side.label && isSame(only(field, side.label), only(field, values)));
    const named = isSame(values, label) ? fields?.[field.name] : undefined;
    const by = named ? sides.filter((side) => named.includes(side.annotator ?? "")) : same;
    const people = this.cluster.differs.includes(field.name)
      ? el("span", { class: "muted small" }, by.length ? t("as {names}", { names: this.namesOf(by) }) : t("put together part by part"))
      : null;
    return el("td", { class: "gold" }, drawn(drawValue(field, values[field.name], this.handlers.store())), people && el("br"), people);
  }

  // What is nobody's version: the label of an answer or an earlier decision, and an edited one.
  extraSides() {
    const { chosen, label, sides, how } = this.cluster;
    const known = sides.length ? [] : [{ title: how === "answer" ? t("As submitted") : t("Label"), label }];
    const isKnown = this.showsGold || !chosen || [...sides, ...known].some((side) => side.label && isSame(chosen, side.label));
    if (isKnown || (how !== "disputed" && isSame(chosen, label))) return known;
    return [...known, { title: how === "answer" ? t("Corrected") : t("Edited"), label: chosen }];
  }

  column(side, at) {
    const name = side.letter ? this.nameOf(side) : side.title;
    const cell = (...parts) => el("th", { scope: "col", class: side.label ? "" : "absent" }, ...parts);
    if (side.perhaps) return cell(name, " ", el("span", { class: "badge info" }, t("perhaps the same")));
    if (!side.label) return cell(name, " ", el("span", { class: "badge missing" }, t("missing")));
    if (this.handlers.readOnly || !side.letter) return cell(name);
    const { chosen } = this.cluster;
    const isTaken = Boolean(chosen) && isSame(chosen, side.label);
    const key = at < 4 ? side.letter.toLowerCase() : String(at + 1);
    const take = el(
      "button",
      { type: "button", class: "button small take", "aria-pressed": String(isTaken), "aria-label": t("Take the label of {name}", { name }) },
      name,
      el("kbd", { "aria-hidden": "true" }, key),
    );
    take.addEventListener("click", () => this.handlers.choose(side.label));
    return cell(take);
  }

  row(field, sides) {
    const differs = [...this.cluster.differs, ...(this.cluster.apart ?? [])].includes(field.name);
    const gold = this.showsGold ? [this.gold(field)] : [];
    const mark = differs ? el("span", { class: "badge warn" }, t("differs")) : null;
    const cells = sides.map(({ label, perhaps }) => {
      const shown = label ?? perhaps;
      const value = shown ? drawn(drawValue(field, shown[field.name], this.handlers.store())) : "–";
      return el("td", { class: !label && perhaps ? "perhaps" : "" }, value, label ? this.takeField(field, label) : null);
    });
    return el("tr", { class: differs ? "differs" : "" }, el("th", { scope: "row" }, field.label, mark), ...gold, ...cells);
  }

  // Settles a disputed field alone; the label is decided once none is open.
  takeField(field, label) {
    const { tied, chosen, settled } = this.cluster;
    if (this.handlers.readOnly || !tied?.includes(field.name)) return null;
    const now = chosen ?? settled;
    const isTaken = now !== undefined && now !== null && field.name in now && isSame(only(field, now), only(field, label));
    const name = this.nameOf(this.cluster.sides.find((side) => side.label === label));
    const take = el(
      "button",
      { type: "button", class: "button small take", "aria-pressed": String(isTaken), "aria-label": t("Take {field} of {name}", { field: field.label, name }) },
      t("Take"),
    );
    take.addEventListener("click", () => this.handlers.settle(field.name, label[field.name]));
    return el("div", {}, take);
  }

  actions() {
    const { cluster, handlers } = this;
    const button = (text, key, act) => {
      const control = el("button", { type: "button", class: "button small" }, text, el("kbd", { "aria-hidden": "true" }, key));
      control.addEventListener("click", act);
      return control;
    };
    const agreed = ["unanimous", "majority", "answer"].includes(cluster.how);
    return el(
      "div",
      { class: "cluster-actions" },
      agreed ? button(cluster.how === "answer" ? t("As it was") : t("As agreed"), "0", () => handlers.choose(cluster.label)) : null,
      button(t("Edit"), "e", handlers.edit),
      button(cluster.chosen === null ? t("Left out") : t("Leave out"), handlers.rejectKey, () => handlers.choose(null)),
    );
  }
}

const drawn = (value) => (Array.isArray(value) ? el("span", {}, ...value) : value);

const STATES = {
  unanimous: { word: t("agreed"), badge: "ok" },
  majority: { word: t("agreed by a majority"), badge: "ok" },
  single: { word: t("one person"), badge: "warn" },
  answer: { word: "", badge: "" },
  added: { word: t("added"), badge: "info" },
  disputed: { word: t("disputed"), badge: "bad" },
};

function stateOf(cluster, missing) {
  if (cluster.how === "disputed") return missing.length ? "missing" : "disputed";
  return cluster.how === "added" || cluster.how === "answer" ? "plain" : "agreed";
}
