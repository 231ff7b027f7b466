// What this browser keeps by name. Where storage is blocked nothing is kept, and nothing breaks.

/**
 * @param {string} name
 * @param {"localStorage" | "sessionStorage"} [place]
 * @returns {any} null where nothing is kept
 */
export function recall(name, place = "localStorage") {
  let text = null;
  try {
    text = window[place].getItem(name);
    return JSON.parse(text ?? "null");
  } catch {
    return text; // a plain word, as earlier versions kept it
  }
}

/**
 * @param {string} name
 * @param {any} value null takes it away
 * @param {"localStorage" | "sessionStorage"} [place]
 * @returns {boolean} whether it is kept
 */
export function keep(name, value, place = "localStorage") {
  try {
    if (value === null) window[place].removeItem(name);
    else window[place].setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
