import { onPage } from "../ui/theme.js";
import { line } from "../ui/axes.js";
import { Samples, drawMarker, drawPolyline, lengthOf, outline } from "./curve.js";

// A curve of a plot: with dash and marks, growing while its run is active.

// Marks along the width of a plot.
const MARKS = 6;
// So few samples have a mark each.
const FEW = 60;
const RING = 5.5;
const BETWEEN = 3 * RING; // pixels between rings; nearer ones would become one black bar

export class CurveLayer {
  constructor() {
    this.samples = new Samples();
    // Samples that are shown, and how many of them and of the line's pixels are on the canvas already.
    [this.shown, this.drawn, this.length] = [0, 0, 0];
    this.rings = [];
  }

  get range() {
    const { samples, shown } = this;
    if (!samples.count) return null;
    const ends = samples.sorted ? [samples.at(0), samples.at(Math.max(0, shown - 1))] : extremes(samples);
    return { x: ends, y: [samples.least, samples.most], logY: [samples.low, samples.high], first: firstPositive(samples) };
  }

  // What is not on the canvas yet, joined to the last that is.
  draw({ context, frame, palette }) {
    const { samples, shown, drawn } = this;
    if (drawn === shown) return [];
    const colour = this.colourOn(palette);
    const points = outline(samples, frame, Math.max(0, drawn - 1), shown);
    const width = this.chosen ? palette.lines.chosen : palette.lines.curve;
    // Over a map a curve has a rim.
    if (this.rim) drawPolyline(context, points, palette.paper, [], 0, width + 2.5);
    if (!this.only) drawPolyline(context, points, colour, this.dash, this.length, width);
    this.length += lengthOf(points);
    if (drawn === 0) this.drawSetup(context, frame, colour);
    for (const k of this.marked(frame, drawn)) {
      const [x, y] = [frame.toX(samples.at(k)), frame.toY(samples.values[k])];
      if (Number.isFinite(y)) drawMarker(context, this.marker, x, y, colour, palette.paper, palette.lines.mark);
    }
    this.drawn = shown;
    return points;
  }

  forget() {
    [this.drawn, this.length] = [0, 0];
  }

  colourOn(palette) {
    return this.faint ? palette.faint : onPage(this.colour, palette);
  }

  // Samples that have a mark: all where they are few, else the first of each stretch of the axis.
  marked({ x, left, right }, begun) {
    const { samples, shown } = this;
    if (this.marker === "" || !samples.sorted) return [];
    if (this.every && shown <= FEW) return Array.from({ length: shown - begun }, (_, k) => begun + k);
    const span = (x.high - x.low) / MARKS;
    const apart = x.whole && !x.log ? Math.max(1, Math.round(span)) : span;
    const found = [];
    const from = Math.max(x.inner(left), begun ? x.inner(samples.at(begun - 1)) : -Infinity);
    for (let place = Math.floor(from / apart) + 1; place * apart <= x.inner(right); place += 1) {
      const k = samples.before(x.outer(place * apart) * (1 - 1e-7), shown) + 1;
      if (k >= shown) break;
      if (k >= begun && found.at(-1) !== k) found.push(k);
    }
    return found;
  }

  // What passed before the first sample: hatched, as everywhere.
  drawSetup(context, { toX, toY, x }, colour) {
    const { samples } = this;
    if (!this.setup || x.log || !samples.count || !(samples.at(0) > 0)) return;
    const y = toY(samples.values[0]);
    context.save();
    context.globalAlpha = 0.55;
    context.lineWidth = 5;
    context.setLineDash([2, 2]);
    line(context, colour, toX(0), y, toX(samples.at(0)), y);
    context.restore();
  }

  drawRings({ context, frame, palette }) {
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    for (const [x, y] of apart(this.ringPlaces(frame), BETWEEN)) {
      context.beginPath();
      context.arc(x, y, RING, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  ringPlaces({ toX, toY }) {
    return this.rings.filter(([k, value]) => value > 0 && k < this.samples.count).map(([k, value]) => [toX(this.samples.at(k)), toY(value)]);
  }

  // Where its name stands: the height of the last sample in sight.
  end({ left, right, toY, box }) {
    const { samples, shown } = this;
    if (!samples.sorted || !shown || samples.at(0) > right) return null;
    let k = samples.before(right, shown);
    if (samples.at(k) < left) return null;
    while (k > 0 && !Number.isFinite(toY(samples.values[k]))) k -= 1;
    const y = toY(samples.values[k]);
    return Number.isFinite(y) ? Math.max(box.top, Math.min(box.bottom, y)) : null;
  }

  // What it has reached at a position; nothing beyond its ends.
  read({ frame, palette }, position) {
    const { samples, shown } = this;
    if (!shown || !samples.sorted || position > samples.at(shown - 1) * (1 + 1e-6) + 1e-12) return null;
    const k = samples.nearest(position, shown);
    const value = samples.values[k];
    const [x, y] = [frame.toX(samples.at(k)), frame.toY(value)];
    if (!Number.isFinite(y) || (this.every && Math.abs(x - frame.toX(position)) > 14)) return null;
    return { layer: this, k, x, y, value, colour: this.colourOn(palette), marker: this.marker };
  }
}

// The last place of a row, and of those before it the ones that are this far from the one after them.
export function apart(places, least) {
  const kept = [];
  for (const [x, y] of places.toReversed()) {
    const after = kept.at(-1);
    if (!after || Math.hypot(x - after[0], y - after[1]) >= least) kept.push([x, y]);
  }
  return kept.reverse();
}

function extremes(samples) {
  let [low, high] = [Infinity, -Infinity];
  for (let k = 0; k < samples.count; k += 1) [low, high] = [Math.min(low, samples.at(k)), Math.max(high, samples.at(k))];
  return [low, high];
}

function firstPositive(samples) {
  if (!samples.sorted) return Infinity;
  const k = samples.before(0, samples.count) + 1;
  return k < samples.count ? samples.at(k) : Infinity;
}
