import { label } from "../ui/axes.js";
import { Columns, coverage } from "./lanepaint.js";

// The strip above the lanes: all of the run, the stretch that is in sight, and what is pointed at elsewhere.

// Pixels that it takes, and those of the strip itself, both of which grow with the letters.
export const ROOM = 34;
const TALL = 22;
// Events of a lane that stand for all of it.
const STAND_INS = 20_000;
const HANDLE = 3;

export class Overview {
  constructor() {
    [this.columns, this.seen, this.tall] = [null, "", TALL];
  }

  // plot: the timeline. Draws all lanes but those of a model; a column is full where each of them works.
  draw(plot) {
    const { context, palette, box, span, kernels, fills } = plot;
    this.tall = TALL * palette.zoom;
    const lanes = plot.lanes.filter(({ group }) => plot.groups[group]?.kind !== "model");
    const band = { left: box.left, width: box.width, top: 2, height: this.tall };
    const whole = { from: span.first, to: Math.max(span.last, span.first + 1e-9) };
    const seen = [plot.count, whole.from, whole.to, box.width, fills.length].join();
    if (seen !== this.seen) {
      this.columns = new Columns(Math.ceil(box.width), fills.length);
      for (const lane of lanes) coverage(lane, kernels, whole, this.columns, Infinity, STAND_INS);
      this.seen = seen;
    }
    context.fillStyle = palette.hover;
    context.fillRect(band.left, band.top, band.width, band.height);
    this.columns.paint(context, fills, band, -1, Math.max(1, lanes.length));
    label(context, palette.soft, "whole run", box.left - 10, band.top + this.tall / 2, "right", "middle");
    const toX = (seconds) => Math.max(box.left, Math.min(box.right, box.left + ((seconds - whole.from) / (whole.to - whole.from)) * box.width));
    this.mark(plot, toX);
    const [left, right] = [toX(span.from), toX(span.to)];
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(left - 1, band.top - 1, Math.max(HANDLE, right - left) + 2, this.tall + 2);
  }

  mark({ context, palette, selected, stretchOf, linked }, toX) {
    context.fillStyle = palette.accent;
    for (const [stretch, alpha] of [[selected, 0.3], [linked && stretchOf(linked.iteration), 0.8]]) {
      if (!stretch) continue;
      const [left, right] = stretch.map(toX);
      context.globalAlpha = alpha;
      context.fillRect(left, 2, Math.max(2, right - left), this.tall);
    }
    context.globalAlpha = 1;
  }

  // Whether a pixel is on the strip.
  holds(y) {
    return y < this.tall + 8;
  }
}
