import { label, line, linearTicks, roundUp } from "../ui/axes.js";
import { THIN, countText, decimalText } from "../ui/numbers.js";
import { decimals } from "./ticks.js";

// What stands around the lanes of a timeline: time, iterations, and what each set of lanes is.

// A set of lanes has its title and the numbers of its iterations above it.
export const HEAD = { title: 12, height: 42 };
// Pixels for the number of an iteration.
const WORD = 60;

export function laneFont({ context, palette }, weight = "") {
  context.font = `${weight}${12 * palette.zoom}px ${palette.type}`;
}

// The axis of time, with its grid.
export function drawAxis(plot) {
  const { context, palette, box, span } = plot;
  const most = Math.max(2, Math.floor(box.width / 90 / palette.zoom));
  const { ticks, title } = timeAxis(span.from, span.to, most, plot.origin);
  context.lineWidth = 1;
  for (const [seconds, text] of ticks) {
    const x = Math.round(plot.toX(seconds)) + 0.5;
    line(context, palette.rule, x, box.top, x, box.bottom + 4);
    label(context, palette.soft, text, x, box.bottom + 7, "center", "top");
  }
  label(context, palette.ink, title, (box.left + box.right) / 2, box.bottom + 25 * palette.zoom, "center", "top");
}

// A line where an iteration of a set of lanes begins, and its number where there is room.
export function drawMarks(plot, { marks, first: begin, last: end }, { top, bottom }) {
  const { context, palette, span, box } = plot;
  const wide = WORD * palette.zoom;
  // What of the width the set takes.
  const width = Math.max(1, Math.min(box.right, plot.toX(end)) - Math.max(box.left, plot.toX(begin)));
  const [first, last] = [Math.max(0, marks.at(span.from)), marks.at(span.to)];
  const count = Math.max(1, last - first);
  const apart = width / count;
  const every = roundUp((10 * count * wide) / width, true) / 10;
  // The iteration that is under way at the left edge, where the next one leaves room to say so.
  const word = (k, x) => label(context, palette.soft, countText(marks.numbers[k]), x + 3, top - 4, "left", "bottom");
  const next = first < last ? marks.starts[first + 1] : span.to;
  if (marks.starts[first] < span.from && plot.toX(next) > box.left + wide) word(first, box.left);
  let free = box.left - 1;
  context.save();
  context.setLineDash([2, 3]);
  for (let k = first; k <= last; k += 1) {
    const named = every < 1 || marks.numbers[k] % Math.round(every) === 0;
    if (!named && apart < 8) continue;
    const x = plot.toX(marks.starts[k]);
    if (x < box.left - 1) continue;
    // Iterations that took no time have no room for their numbers.
    const worded = named && x >= free && x < box.right - 20;
    line(context, palette.soft, x, worded ? top - 6 : top, x, bottom);
    if (!worded) continue;
    word(k, x);
    free = x + wide - 16;
  }
  context.restore();
  label(context, palette.ink, "iteration", box.left - 10, top - 4, "right", "bottom");
}

// What a set of lanes is, above it.
export function drawHeads(plot) {
  const { context, palette } = plot;
  laneFont(plot, "bold ");
  plot.groups.forEach(({ title }, group) => {
    label(context, palette.ink, title, 4, plot.stripe(group).top - palette.zoom * (HEAD.height - HEAD.title), "left", "middle");
  });
  laneFont(plot);
}

// Ticks as [seconds, text], and the title of the axis. Where numbers would be long they count from a round time nearby.
function timeAxis(from, to, most, origin) {
  const width = to - from;
  const [unit, factor] = width < 1e-3 ? ["µs", 1e6] : width < 1 ? ["ms", 1e3] : ["s", 1];
  const coarse = 10 ** Math.ceil(Math.log10(width));
  const base = from > 200 * width ? Math.floor(from / coarse) * coarse : 0;
  const values = linearTicks((from - base) * factor, (to - base) * factor, most);
  const digits = decimals(values);
  const ticks = values.map((value) => [base + value / factor, decimalText(value, digits)]);
  if (!base) return { ticks, title: `time from ${origin}, ${unit}` };
  const start = decimalText(base * 1e3, Math.max(0, -Math.round(Math.log10(coarse * 1e3))));
  return { ticks, title: `time after ${start} ms, ${unit}` };
}

// A time from the start of the run, to the microsecond.
export function moment(seconds) {
  return `${decimalText(1e3 * seconds, 3)}${THIN}ms`;
}
