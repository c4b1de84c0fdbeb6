import { element } from "../ui/page.js";
import { shape } from "./smallplot.js";

// What is left of the error after each correction of one application of the preconditioner, a column for each, and what
// M and every level removed in all their corrections.

const FRAME = { width: 640, height: 224, left: 44, top: 24, right: 630, bottom: 180 };
const REMOVES = "Error that each level removes when M is applied to the present residual";
const READING =
  "Each column: the error after one more correction, by the level below it. A lower column: that level removed the difference. A " +
  "higher one: it added to the error, which later levels repair. Dashed: the error with an exact solve with E.";
// Pixels that the name of a column needs at least.
const ROOM = 16;

// removers: by whom, what the legend and the axis call them, and their colours.
export function removalPlot(host, removers) {
  const known = Object.fromEntries(removers.map((remover) => [remover.by, remover]));
  const picture = shape(host, "svg", { viewBox: `0 0 ${FRAME.width} ${FRAME.height}`, role: "img", class: "wb-small" });
  const table = element("table", "wb-kernels");
  host.prepend(element("div", "wb-heading", REMOVES));
  host.append(table, element("div", "wb-note", READING));

  return ({ stages, removed, exact }) => {
    picture.replaceChildren();
    const high = Math.max(1, ...stages.map(([, left]) => left));
    const toY = (left) => FRAME.bottom - (left / high) * (FRAME.bottom - FRAME.top);
    for (let left = 0; left <= high; left += high > 2 ? 0.5 : 0.25) {
      shape(picture, "line", { x1: FRAME.left, x2: FRAME.right, y1: toY(left), y2: toY(left), class: "wb-rule" });
      write(percent(left, 0), FRAME.left - 6, toY(left) + 4, "end");
    }
    const pitch = (FRAME.right - FRAME.left) / stages.length;
    stages.forEach(([by, left], k) => {
      const x = FRAME.left + k * pitch;
      const size = { x: x + 0.12 * pitch, width: 0.76 * pitch, y: toY(left), height: FRAME.bottom - toY(left) };
      const column = shape(picture, "rect", { ...size, fill: known[by].colour });
      const reported = shape(column, "title", {});
      const change = k ? stages[k - 1][1] - left : 0;
      const effect = k ? `, ${percent(Math.abs(change), 1)} ${change < 0 ? "added" : "removed"}` : "";
      reported.textContent = `${known[by].name}: ${percent(left, 1)} left${effect}`;
      if (pitch >= (by === "before" ? 2.4 * ROOM : ROOM)) write(known[by].short, x + pitch / 2, FRAME.bottom + 15, "middle");
    });
    const y = toY(exact);
    shape(picture, "line", { x1: FRAME.left, x2: FRAME.right, y1: y, y2: y, class: "wb-exact" });
    write("corrections in their order: M, levels by number, CG for a step of flexible CG", (FRAME.left + FRAME.right) / 2, FRAME.height - 8, "middle");
    write("error left, energy norm", 0, 11, "start");
    const last = stages[stages.length - 1][1];
    picture.setAttribute("aria-label", `${REMOVES}: ${percent(last, 1)} is left after ${stages.length - 1} corrections.`);
    table.replaceChildren(head(), rows(stages, removed, last, exact));
  };

  function head() {
    const [top, line] = [element("thead", ""), element("tr", "")];
    for (const [name, kind] of [["by", ""], ["corrections", "wb-number"], ["removed", "wb-number"]]) {
      const cell = element("th", kind, name);
      cell.scope = "col";
      line.append(cell);
    }
    top.append(line);
    return top;
  }

  function rows(stages, removed, last, exact) {
    const body = element("tbody", "");
    for (const { by, name, colour } of removers.filter((remover) => remover.by in removed)) {
      const patch = element("span", "wb-patch");
      patch.style.background = colour;
      const count = stages.filter(([who]) => who === by).length;
      body.append(line([patch, name], String(count), percent(removed[by], 1)));
    }
    body.append(line(["left"], "", percent(last, 1)), line(["left, E solved exactly"], "", percent(exact, 1)));
    return body;
  }

  function line(titled, count, share) {
    const made = element("tr", "");
    const name = element("td", "");
    name.append(...titled);
    made.append(name, element("td", "wb-number", count), element("td", "wb-number", share));
    return made;
  }

  function write(text, x, y, anchor) {
    const made = shape(picture, "text", { x, y, "text-anchor": anchor });
    made.textContent = text;
    return made;
  }
}

function percent(share, digits) {
  return `${(100 * share).toFixed(digits).replace("-", "\u2212")}\u202f%`;
}
