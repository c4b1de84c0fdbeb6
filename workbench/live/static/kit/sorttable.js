import { element } from "./page.js";

// A table that is sorted by a press on a heading: rising, then falling, then as it came.

function render({ model, el }) {
  const root = element("div", "wb-sorted");
  el.append(root);

  function show() {
    const { column, falling } = model.get("order");
    const names = model.get("columns");
    const marks = model.get("marks");
    const marked = model.get("rows").map((cells, place) => ({ cells, mark: marks[place] ?? "" }));
    const rows = sorted(marked, column, falling);
    if (!rows.length) {
      root.replaceChildren(element("div", "wb-empty", model.get("empty")));
      return;
    }
    // A press replaces the table, and who pressed by key wants to press again.
    const focused = [...root.querySelectorAll("th button")].indexOf(document.activeElement);
    const [table, head, body, line] = ["table", "thead", "tbody", "tr"].map((kind) => element(kind, ""));
    table.className = "wb-table";
    const numeric = names.map((_, place) => rows.some(({ cells }) => typeof cells[place].key === "number"));
    line.append(...names.map((name, place) => heading(name, place, numeric)));
    head.append(line);
    body.append(...rows.map((marked) => row(marked, numeric)));
    table.append(head, body);
    root.replaceChildren(table);
    if (focused >= 0) root.querySelectorAll("th button")[focused]?.focus();
  }

  function heading(name, place, numeric) {
    const { column, falling } = model.get("order");
    const cell = element("th", numeric[place] ? "wb-number" : "");
    const mark = place !== column ? "" : falling ? " ▼" : " ▲";
    cell.scope = "col";
    cell.setAttribute("aria-sort", place !== column ? "none" : falling ? "descending" : "ascending");
    const press = element("button", "", name + mark);
    press.type = "button";
    press.addEventListener("click", () => {
      const next = place !== column ? { column: place, falling: false } : falling ? { column: -1, falling: false } : { column, falling: true };
      model.set("order", next);
      model.save_changes();
    });
    cell.append(press);
    return cell;
  }

  const names = ["change:rows", "change:marks", "change:order", "change:columns"];
  for (const name of names) model.on(name, show);
  show();
  return () => {
    for (const name of names) model.off(name, show);
    root.remove();
  };
}

function row({ cells, mark }, numeric) {
  const made = element("tr", mark && `wb-${mark}`);
  cells.forEach(({ text }, place) => made.append(element("td", numeric[place] ? "wb-number" : "", text)));
  return made;
}

// What has no value comes last, whichever way the others go.
function sorted(rows, column, falling) {
  if (column < 0) return rows;
  const compare = (one, other) => {
    const [a, b] = [one.cells[column].key, other.cells[column].key];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return falling ? -order : order;
  };
  return [...rows].sort(compare);
}

export default { render };
