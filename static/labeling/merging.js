// Putting two versions of one answer together.

import { newUid } from "./dom.js";

// The labels of a payload with every reference to `uid` taken out.
export function withoutReferences(layers, labels, uid) {
  const renamed = layers.map((layer) => {
    const fields = layer.fields.filter(({ widget }) => widget === "references");
    return [layer.key, labels[layer.key].map((label) => withoutReference(fields, label, uid))];
  });
  return { ...labels, ...Object.fromEntries(renamed) };
}

function withoutReference(fields, label, uid) {
  const changed = { ...label };
  for (const { name, many } of fields) {
    if (many && label[name]?.includes(uid)) changed[name] = label[name].filter((target) => target !== uid);
    else if (!many && label[name] === uid) changed[name] = null;
  }
  return fields.some(({ name }) => changed[name] !== label[name]) ? changed : label;
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

// The labels of both; one that differs is there twice.
export function unitedWork(layers, pairs) {
  const payload = Object.fromEntries(layers.map((layer) => [layer.key, []]));
  for (const { layer, mine, theirs, isSame } of pairs) {
    if (mine) payload[layer.key].push(mine);
    if (theirs && !isSame) payload[layer.key].push(mine ? { ...theirs, uid: newUid() } : theirs);
  }
  for (const layer of layers) if (layer.stores_id) renumber(payload[layer.key], layer.prefix);
  return payload;
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

export const numberOf = (id) => Number.parseInt(id?.split("-")[1], 10) || 0;

export const idOf = (prefix, number) => `${prefix}-${String(number).padStart(3, "0")}`;
