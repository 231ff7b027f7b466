// The texts of the scripts in the language of the page: the English text is the key.

const block = document.getElementById("texts");
const texts = block ? JSON.parse(block.textContent) : {};

/** The text in the language of the page, each {name} in it replaced by its value. */
export const t = (text, values = {}) =>
  (texts[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
