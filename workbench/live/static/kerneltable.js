import { element } from "./page.js";
import { fillOf } from "./fills.js";
import { grouped } from "./axes.js";
import { duration, rate } from "./units.js";

// The legend of a timeline, which is a table as well: what each kernel is drawn like, and what it took of the whole run.

const HEADINGS = ["kernel", "lane", "calls", "time", "share", "mean", "bandwidth"];

export function kernelTable() {
  const root = element("table", "wb-kernels");
  const head = element("tr", "");
  for (const name of HEADINGS) head.append(heading(name));
  const body = element("tbody", "");
  const top = element("thead", "");
  top.append(head);
  root.append(top, body);
  root.hidden = true;
  // Drawn once, because the numbers beside them change every second.
  const patches = new Map();
  const patchOf = (kernel, colours) => {
    const key = [kernel.style, colours.ink, colours.paper].join();
    if (!patches.has(key)) patches.set(key, patch(kernel, colours));
    return patches.get(key);
  };

  return {
    root,
    // kernels as the timeline has them; totals: calls, seconds and bytes per style.
    show(kernels, totals, colours) {
      const rows = totals.map((total, style) => [total, kernels.filter((kernel) => kernel.style === style)]);
      const sum = rows.reduce((all, [{ seconds }, [kernel]]) => all + (kernel?.idle ? 0 : seconds), 0);
      const there = rows.filter(([{ calls }]) => calls > 0).sort(([one], [other]) => other.seconds - one.seconds);
      root.hidden = there.length === 0;
      body.replaceChildren(...there.map(([total, same]) => row(total, same, sum, patchOf(same[0], colours))));
    },
  };
}

function heading(name) {
  const cell = element("th", isNumber(name) ? "wb-number" : "", name);
  cell.scope = "col";
  return cell;
}

function isNumber(name) {
  return name !== "kernel" && name !== "lane";
}

function row({ calls, seconds, bytes }, same, sum, swatch) {
  const made = element("tr", "");
  const name = element("td", "");
  name.append(swatch, same[0].name);
  const lanes = [...new Set(same.map(({ lane }) => lane))].join(", ");
  const share = same[0].idle ? "–" : `${((100 * seconds) / sum || 0).toFixed(1)}\u2009%`;
  made.append(name, element("td", "", lanes));
  for (const text of [grouped(calls), duration(seconds), share, duration(seconds / calls), rate(bytes, seconds) || "–"]) {
    made.append(element("td", "wb-number", text));
  }
  return made;
}

function patch(kernel, colours) {
  const canvas = element("canvas", "wb-patch");
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [22 * scale, 12 * scale];
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = fillOf(context, kernel, colours).fill;
  context.fillRect(0, 0, 22, 12);
  return canvas;
}
