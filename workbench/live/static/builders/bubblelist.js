import { element } from "../ui/page.js";

// The bubbles as numbers to be typed. What was refused stays as it was typed, marked, until its bubble changes or Escape.

export function bubbleList(shown, tools) {
  const [root, scroller] = [element("div", "wb-bubbles"), element("div", "wb-rows")];
  const table = element("table", "wb-table");
  const [head, body] = [element("thead", ""), element("tbody", "")];
  table.append(head, body);
  scroller.append(table);
  root.append(element("div", "wb-empty", "bubbles, in side lengths"), scroller);
  let [names, typed] = ["", null];

  function show() {
    const { dimensions, bubbles, selected, heard, accepted } = shown.state;
    rename(`${"xyz".slice(0, dimensions)}r`);
    while (body.children.length > bubbles.length) body.lastChild.remove();
    while (body.children.length < bubbles.length) body.append(line(body.children.length));
    if (typed && (typed.was !== String(bubbles[typed.index]) || (heard === typed.seq && accepted))) typed = null;
    bubbles.forEach((row, index) => {
      const made = body.children[index];
      made.setAttribute("aria-selected", String(index === selected));
      const kept = typed?.index === index;
      row.forEach((value, place) => {
        const box = made.children[place + 1].firstChild;
        box.setAttribute("aria-invalid", String(kept && heard >= typed.seq && place === typed.place));
        if (!kept && document.activeElement !== box) box.value = written(value);
        else if (!kept && box.dataset.shown !== String(value)) box.value = written(value);
        box.dataset.shown = String(value);
      });
    });
    keepInSight(body.children[selected]);
  }

  // Within the list alone, so that the page stays where it is.
  function keepInSight(line) {
    if (!line) return;
    const [low, high] = [line.offsetTop + line.offsetHeight - scroller.clientHeight, line.offsetTop - head.offsetHeight];
    scroller.scrollTop = Math.max(low, Math.min(high, scroller.scrollTop));
  }

  function rename(next) {
    if (next === names) return;
    names = next;
    typed = null;
    const titles = element("tr", "");
    titles.append(...["", ...names].map((name) => Object.assign(element("th", "", name), { scope: "col" })));
    head.replaceChildren(titles);
    body.replaceChildren();
  }

  function line(index) {
    const made = element("tr", "");
    made.append(element("td", "", String(index + 1)));
    [...names].forEach((name, place) => {
      const [cell, box] = [element("td", ""), element("input", "")];
      box.type = "text";
      box.inputMode = "decimal";
      box.setAttribute("aria-label", `${name} of bubble ${index + 1}, in side lengths`);
      box.setAttribute("data-lm-suppress-shortcuts", "true");
      box.addEventListener("focus", () => shown.state.selected !== index && tools.ask("select", { index }));
      box.addEventListener("change", () => take(index, place));
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter") take(index, place);
        if (event.key !== "Escape") return;
        typed = null;
        box.value = written(shown.state.bubbles[index][place]);
      });
      cell.append(box);
      made.append(cell);
    });
    return made;
  }

  function take(index, place) {
    const row = shown.state.bubbles[index];
    const boxes = [...body.children[index].querySelectorAll("input")];
    if (boxes.every((box, k) => box.value === written(row[k]))) return;
    // A number that only looks shorter than it is stays what it is.
    const next = boxes.map((box, k) => (box.value === written(row[k]) ? row[k] : box.value));
    typed = { index, place, was: String(row), seq: Infinity };
    typed.seq = tools.ask("place", { index, row: next });
  }

  return { root, show };
}

function written(value) {
  return String(Number(value.toFixed(4)));
}
