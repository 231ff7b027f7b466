// Pieces of text. Stored places count code points; the browser counts UTF-16 units, in which an
// emoji takes two. A span is {start, end, text} and, in a conversation, the message.

const toCodePoints = (text, unit) => Array.from(text.slice(0, unit)).length;

const toUnits = (text, point) => Array.from(text).slice(0, point).join("").length;

export function spanBetween(text, from, to) {
  const [start, end] = trimmed(text, Math.min(from, to), Math.max(from, to));
  if (start >= end) return null;
  return {
    start: toCodePoints(text, start),
    end: toCodePoints(text, end),
    text: text.slice(start, end),
  };
}

// Nobody means the blanks around a word, nor half an emoji.
function trimmed(text, from, to) {
  let [start, end] = [from, to];
  if (isLow(text, start)) start -= 1;
  if (isLow(text, end)) end += 1;
  while (start < end && !text[start].trim()) start += 1;
  while (end > start && !text[end - 1].trim()) end -= 1;
  return [start, end];
}

const isLow = (text, at) => at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]);

// What is selected in the page, if it lies in one text of the given kind: {element, span}.
export function selectedIn(selector) {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const element = parentOf(range.startContainer)?.closest(selector);
  const node = element?.firstChild;
  if (!node) return null;
  const from = range.startContainer === node ? range.startOffset : 0;
  const endsHere = range.endContainer === node;
  if (!endsHere && !isJustAfter(element, range)) return null;
  const span = spanBetween(node.data, from, endsHere ? range.endOffset : node.data.length);
  return span && { element, span, range };
}

// A triple click selects up to the start of whatever follows the paragraph.
const isJustAfter = (element, range) =>
  !element.contains(range.endContainer) && range.toString().trim() === element.textContent.slice(range.startOffset).trim();

const parentOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

// Where the words of a text begin and end, in UTF-16 units, also in scripts without blanks.
export function wordsOf(text) {
  const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(text);
  return [...segments]
    .filter(({ segment }) => segment.trim())
    .map(({ segment, index }) => ({ from: index, to: index + segment.length }));
}

export function rangeOf(node, { start, end }) {
  return new StaticRange({
    startContainer: node,
    startOffset: toUnits(node.data, start),
    endContainer: node,
    endOffset: toUnits(node.data, end),
  });
}
