import { label } from "../ui/axes.js";
import { firstAbove, inserted } from "./lane.js";

// What waits for what: from the end of one event to the start of another.

// End of the first, start of the other, and their kernels, as doubles.
export const FLOW_BYTES = 4 * 8;
const FLOW_COLUMNS = ["start", "end", "cause", "kernel"];
// More arrows than this cannot be distinguished: then only those of the event that is pointed at are drawn.
const MOST_ARROWS = 60;
const TIP = 5;
// Pixels that a box keeps from an arrow which passes its lane.
const KEPT = 3;

export class Flows {
  constructor() {
    this.count = 0;
    [this.start, this.end] = [new Float64Array(256), new Float64Array(256)];
    [this.cause, this.kernel] = [new Int32Array(256), new Int32Array(256)];
  }

  // rows: four numbers each.
  append(rows) {
    for (let at = 0; at < rows.length; at += 4) {
      const [end, start, cause, kernel] = rows.subarray(at, at + 4);
      const place = inserted(this, FLOW_COLUMNS, start);
      [this.end[place], this.cause[place], this.kernel[place]] = [end, cause, kernel];
    }
  }

  // Those of the event of a kernel with this start.
  into(kernel, start) {
    const found = [];
    for (let k = firstAbove(this.start, this.count, start, true); k < this.count && this.start[k] === start; k += 1) {
      if (this.kernel[k] === kernel) found.push(k);
    }
    return found;
  }

  // plot: the timeline; pointed: kernel, start and end of the event that is pointed at, or null. Its words stay above them.
  draw(plot, pointed) {
    const { span, context, palette } = plot;
    const [first, last] = [firstAbove(this.start, this.count, span.from), firstAbove(this.start, this.count, span.to)];
    const mine = (k) => pointed && ((this.kernel[k] === pointed.kernel && this.start[k] === pointed.start) || (this.cause[k] === pointed.kernel && this.end[k] === pointed.end));
    const few = last - first <= MOST_ARROWS;
    const { left, top, width, bottom } = plot.box;
    context.save();
    context.beginPath();
    context.rect(left, top, width, bottom - top);
    context.clip();
    for (let k = first; k < last; k += 1) {
      if (!mine(k) && (!few || pointed)) continue;
      const [from, to] = [plot.rowOf(this.cause[k]), plot.rowOf(this.kernel[k])];
      if (from === to) continue;
      const [one, other] = [plot.band(from), plot.band(to)];
      const down = other.top > one.top;
      const [x0, y0] = [plot.toX(this.end[k]), down ? one.top + one.height : one.top];
      const [x1, y1] = [plot.toX(this.start[k]), down ? other.top : other.top + other.height];
      const between = plot.lanes.map((lane, row) => [lane, plot.band(row)]).slice(Math.min(from, to) + 1, Math.max(from, to));
      let at = x0;
      const passed = (down ? between : between.reverse()).map(([lane, { top: above, height }]) => {
        at = passage(plot, lane, at);
        return { x: at, y: down ? above : above + height, far: down ? above + height : above };
      });
      arrow(context, mine(k) ? palette.accent : palette.soft, { x: x0, y: y0 }, passed, { x: x1, y: y1 });
    }
    context.restore();
    if (few || pointed) for (const word of plot.words) label(context, ...word);
  }
}

// Where an arrow passes a lane: between two of its boxes, or along the border of two without room between, as near to x as
// there is one in sight; at x where there is none.
export function passage(plot, lane, x) {
  const { span, box } = plot;
  const [time, kept] = [plot.toTime(x), (KEPT * span.width) / box.width];
  const next = firstAbove(lane.start, lane.count, time);
  const places = [next - 1, next].filter((place) => place >= 0).map((place) => {
    const [before, after] = [place > 0 ? lane.end[place - 1] : -Infinity, place < lane.count ? lane.start[place] : Infinity];
    return after - before < 2 * kept ? (before + after) / 2 : Math.min(Math.max(time, before + kept), after - kept);
  });
  const seen = places.filter((at) => at >= span.from && at <= span.to);
  return seen.length ? plot.toX(seen.sort((one, other) => Math.abs(one - time) - Math.abs(other - time))[0]) : x;
}

// A curve that leaves and arrives upright, with a head. passed: where it passes lanes, upright, from y to far.
function arrow(context, colour, from, passed, to) {
  const way = Math.sign(to.y - from.y);
  [context.strokeStyle, context.fillStyle, context.lineWidth] = [colour, colour, 1.25];
  context.beginPath();
  context.moveTo(from.x, from.y);
  let at = from;
  for (const { x, y, far = y } of [...passed, { x: to.x, y: to.y - way * TIP }]) {
    const middle = (at.y + y) / 2;
    context.bezierCurveTo(at.x, middle, x, middle, x, y);
    context.lineTo(x, far);
    at = { x, y: far };
  }
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - TIP * 0.7, to.y - way * TIP);
  context.lineTo(to.x + TIP * 0.7, to.y - way * TIP);
  context.fill();
}
