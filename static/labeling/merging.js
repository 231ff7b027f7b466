// Putting two things together: two labels of one layer, or two versions of one answer.

import { newUid } from "./dom.js";

const isBlank = (value) => value === undefined || value === null || value === "";

const united = (a, b) => {
  const seen = new Set((a ?? []).map((item) => JSON.stringify(item)));
  return [...(a ?? []), ...(b ?? []).filter((item) => !seen.has(JSON.stringify(item)))];
};

const numbers = (a, b) => united(a, b).sort((x, y) => x - y);

const UNITE = { lines: united, messages: numbers, phases: united, arguments: united };

// The first label's fields stay; lists are united, and what it left open is taken from the other.
export function mergedLabel(layer, first, other) {
  const values = layer.fields.map((field) => [field.name, mergedField(field, first, other)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function mergedField({ name, widget, many }, first, other) {
  const unite = UNITE[widget] ?? (many ? united : null);
  const isOpen = first[name] === undefined && other[name] === undefined;
  if (unite) return isOpen ? undefined : unite(first[name], other[name]);
  return isBlank(first[name]) ? (other[name] ?? first[name]) : first[name];
}

// The labels of a payload with every reference to `uid` taken out, or turned to `successor`.
export function withoutReferences(layers, labels, uid, successor = null) {
  const renamed = layers.map((layer) => {
    const fields = layer.fields.filter(({ widget }) => widget === "references");
    return [layer.key, labels[layer.key].map((label) => redirected(fields, label, uid, successor))];
  });
  return { ...labels, ...Object.fromEntries(renamed) };
}

function redirected(fields, label, uid, successor) {
  const changed = { ...label };
  let isChanged = false;
  for (const { name, many } of fields) {
    if (many ? !label[name]?.includes(uid) : label[name] !== uid) continue;
    isChanged = true;
    const turned = [label[name]].flat().map((target) => (target === uid ? successor : target));
    const left = [...new Set(turned.filter(Boolean))];
    changed[name] = many ? left : (left[0] ?? null);
  }
  return isChanged ? changed : label;
}

// Two versions of an answer, label by label: {layer, mine, theirs, isSame}; one side may be missing.
export function compared(layers, mine, theirs) {
  return layers.flatMap((layer) => {
    const [ours, others] = [mine, theirs].map(
      (work) => new Map((work.payload?.[layer.key] ?? []).map((label) => [label.uid, label])),
    );
    return [...new Set([...ours.keys(), ...others.keys()])].map((uid) => {
      const pair = { layer, uid, mine: ours.get(uid), theirs: others.get(uid) };
      return { ...pair, isSame: canonical(pair.mine) === canonical(pair.theirs) };
    });
  });
}

const canonical = (label) =>
  JSON.stringify(Object.entries(label ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));

// `choices` says for each uid "mine", "theirs", "both" or "none".
export function mergedWork(layers, pairs, choices) {
  const payload = Object.fromEntries(layers.map((layer) => [layer.key, []]));
  for (const { layer, uid, mine, theirs, isSame } of pairs) {
    const choice = isSame ? "mine" : choices[uid];
    const both = choice === "both";
    if (mine && (both || choice === "mine")) payload[layer.key].push(mine);
    if (theirs && (both || choice === "theirs")) {
      payload[layer.key].push(both && mine ? { ...theirs, uid: newUid() } : theirs);
    }
  }
  for (const layer of layers) if (layer.stores_id) renumber(payload[layer.key], layer.prefix);
  return withoutLostReferences(layers, payload);
}

// Two pages that began at the same time both have a REQ-001: the later one gets the next number.
function renumber(labels, prefix) {
  const used = new Set();
  let highest = Math.max(0, ...labels.map(({ id }) => numberOf(id)));
  for (const [at, label] of labels.entries()) {
    if (used.has(label.id)) labels[at] = { ...label, id: idOf(prefix, ++highest) };
    used.add(labels[at].id);
  }
}

function withoutLostReferences(layers, payload) {
  const kept = new Set(Object.values(payload).flat().map(({ uid }) => uid));
  const named = layers.flatMap((layer) =>
    layer.fields
      .filter(({ widget }) => widget === "references")
      .flatMap(({ name }) => payload[layer.key].flatMap((label) => label[name] ?? [])),
  );
  const lost = [...new Set(named)].filter((uid) => !kept.has(uid));
  return lost.reduce((labels, uid) => withoutReferences(layers, labels, uid), payload);
}

export const numberOf = (id) => Number.parseInt(id?.split("-")[1], 10) || 0;

export const idOf = (prefix, number) => `${prefix}-${String(number).padStart(3, "0")}`;
