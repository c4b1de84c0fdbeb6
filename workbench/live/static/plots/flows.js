import { label } from "../ui/axes.js";
import { firstAbove, inserted } from "./lane.js";

// What waits for what: from the end of one event to the start of another.

// End of the first, start of the other, and their kernels, as doubles.
export const FLOW_BYTES = 4 * 8;
const FLOW_COLUMNS = ["start", "end", "cause", "kernel"];
// More arrows than this cannot be distinguished: then only those of the event that is pointed at are drawn.
const MOST_ARROWS = 60;
const TIP = 5;

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
      arrow(context, mine(k) ? palette.accent : palette.soft, x0, y0, x1, y1);
    }
    context.restore();
    if (few || pointed) for (const word of plot.words) label(context, ...word);
  }
}

// A curve that leaves and arrives upright, with a head.
function arrow(context, colour, x0, y0, x1, y1) {
  const [middle, way] = [(y0 + y1) / 2, Math.sign(y1 - y0)];
  [context.strokeStyle, context.fillStyle, context.lineWidth] = [colour, colour, 1.25];
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, middle, x1, middle, x1, y1 - way * TIP);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - TIP * 0.7, y1 - way * TIP);
  context.lineTo(x1 + TIP * 0.7, y1 - way * TIP);
  context.fill();
}
