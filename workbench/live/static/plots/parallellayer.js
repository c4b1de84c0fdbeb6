import { line } from "../ui/axes.js";
import { asHex, colourMap } from "../ui/maps.js";
import { setFont, shortened, drawText } from "./plotaxes.js";

// Parallel coordinates: an upright axis for each parameter and one for the result; a run is a line through all of them.

const REACH_OF_LINE = 8;

export class ParallelLayer {
  // reported: axes as {title, ticks: [[share, text]]}; texts and keys of each run. shares: where each run meets each axis, run
  // after run, NaN where it has no value.
  constructor(reported, shares) {
    Object.assign(this, reported, { shares });
    this.runs = shares.length / this.axes.length;
  }

  get range() {
    return { x: [-0.2, this.axes.length - 0.8], y: [-0.02, 1.02], logY: [0, 1], first: Infinity };
  }

  pathOf({ toX, toY }, run) {
    const points = [];
    const count = this.axes.length;
    for (let k = 0; k < count; k += 1) {
      const share = this.shares[run * count + k];
      if (Number.isFinite(share)) points.push(toX(k), toY(share));
    }
    return points;
  }

  draw({ context, frame, palette }) {
    context.lineWidth = palette.lines.curve;
    for (let run = 0; run < this.runs; run += 1) this.stroke(context, frame, palette, run);
    for (let k = 0; k < this.axes.length; k += 1) this.drawAxis(context, frame, palette, k);
    return [];
  }

  stroke(context, frame, palette, run) {
    const share = this.shares[(run + 1) * this.axes.length - 1];
    const map = colourMap("batlow");
    // The ends of the map would vanish on a light or a dark ground.
    const place = Math.round(palette.dark ? 70 + 150 * share : 10 + 170 * share);
    context.save();
    context.strokeStyle = Number.isFinite(share) ? asHex(map[place]) : palette.faint;
    context.setLineDash(Number.isFinite(share) ? [] : [3, 3]);
    context.beginPath();
    const points = this.pathOf(frame, run);
    for (let k = 0; k < points.length; k += 2) context.lineTo(points[k], points[k + 1]);
    context.stroke();
    context.restore();
  }

  drawAxis(context, { box, toX, toY }, palette, k) {
    const { title, ticks } = this.axes[k];
    const x = toX(k);
    context.lineWidth = palette.lines.axis;
    line(context, palette.edge, x, box.top, x, box.bottom);
    setFont(context, palette, 11);
    for (const [share, words] of ticks) {
      const wide = Math.min(context.measureText(words).width, 90);
      context.fillStyle = palette.paper;
      context.fillRect(x + 4, toY(share) - 7 * palette.zoom, wide + 4, 14 * palette.zoom);
      drawText(context, palette.ink, shortened(context, words, 90), x + 6, toY(share), "left", "middle");
    }
  }

  // Titles stand above their axes, outside of what is clipped.
  drawInMargin({ context, frame, palette }) {
    setFont(context, palette, 12, 500);
    const room = frame.toX(1) - frame.toX(0) - 8;
    this.axes.forEach(({ title }, k) => drawText(context, palette.ink, shortened(context, title, room), frame.toX(k), 14 * palette.zoom, "center", "middle"));
  }

  near({ frame }, px, py) {
    let best = null;
    for (let run = 0; run < this.runs; run += 1) {
      const points = this.pathOf(frame, run);
      for (let k = 0; k + 3 < points.length; k += 2) {
        const away = distance(px, py, ...points.slice(k, k + 4));
        if (away <= REACH_OF_LINE && !(away >= best?.away)) best = { k: run, away };
      }
    }
    if (!best) return null;
    this.pointed = best.k;
    return { ...best, x: px, y: py, key: this.keys?.[best.k] ?? "", words: this.texts[best.k], layer: this };
  }

  ring({ context, frame, palette }) {
    context.save();
    context.lineWidth = palette.lines.chosen + 1;
    context.strokeStyle = palette.accent;
    context.beginPath();
    const points = this.pathOf(frame, this.pointed);
    for (let k = 0; k < points.length; k += 2) context.lineTo(points[k], points[k + 1]);
    context.stroke();
    context.restore();
  }
}

// From a point to a stretch of line.
function distance(px, py, x0, y0, x1, y1) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const share = Math.max(0, Math.min(1, ((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(px - x0 - share * dx, py - y0 - share * dy);
}
