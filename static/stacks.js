// Tables that become blocks on a phone (components.css): each cell says by itself what it is.

/** @param {HTMLTableElement} table */
export function nameStack(table) {
  const titles = [...(table.tHead?.rows[0]?.cells ?? [])].map(titleOf);
  table.setAttribute("role", "table");
  for (const part of [table.tHead, ...table.tBodies]) part?.setAttribute("role", "rowgroup");
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    for (const cell of row.cells) {
      cell.setAttribute("role", cell.scope === "col" ? "columnheader" : cell.scope === "row" ? "rowheader" : "cell");
      if (cell.tagName === "TD" && cell.colSpan === 1) cell.dataset.label = titles[cell.cellIndex] ?? "";
    }
  }
}

/** What is only for screen readers they have from the head. */
function titleOf(cell) {
  const seen = cell.cloneNode(true);
  for (const hidden of seen.querySelectorAll(".visually-hidden, [aria-hidden], .tip")) hidden.remove();
  return seen.textContent.trim();
}
