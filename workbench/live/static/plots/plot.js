import { drawAxes, decadeTicks, powerOfTen, short, line, label } from "../kit/axes.js";
import { RULERS } from "./rulers.js";
import { firstAt, drawFlag } from "./finish.js";
import { exponents, frameOf } from "./frame.js";
import { Samples, outline, lengthOf, drawPolyline, drawMarker } from "./curve.js";
import { Stage } from "../transport/stage.js";
import { onPage } from "../kit/theme.js";

// The convergence plot as numbers in, strokes out: relative residual, logarithmic, against iterations, seconds or bytes,
// all runs in one picture.

// Rows of a readout at most; the plot is not much higher.
const MOST_READ = 10;
const NOBODY = { first: [], open: false };

export class Plot extends Stage {
  // hear(report) is told what is painted, at most once a second while runs go on, and what the pointer points at.
  constructor(hear) {
    super(hear);
    this.curves = new Map();
    [this.axis, this.setup] = ["iterations", false];
    [this.cursor, this.reading] = [null, false];
    // A tolerance that was moved on the page and goes before the kernel's, and whether it is being dragged.
    [this.moved, this.held] = [null, false];
    [this.marked, this.reported, this.winners] = [false, "", NOBODY];
    // How many paints what came last is spread over, how many of them are left, and the timer of the next one.
    this.pace = { paints: 1, milliseconds: 0 };
    [this.left, this.next] = [0, 0];
  }

  get ruler() {
    return RULERS[this.axis === "seconds" && this.setup ? "total" : this.axis];
  }

  // cursor: {x, y} in pixels, {by} steps from where it is, or null to take it away.
  point({ cursor }) {
    this.cursor = cursor?.by === undefined ? cursor : { k: (this.cursor?.k ?? 0) + cursor.by * this.ruler.step(this.frame?.extent ?? 0) };
    this.schedule();
  }

  // value: of the line as it was moved on the page, or null for the kernel's.
  tolerance({ value, held }) {
    [this.moved, this.held] = [value, held];
    this.schedule();
  }

  news({ content, fresh }) {
    if (content.reset) {
      this.curves.clear();
      this.drawnAs = "";
    }
    [this.axis, this.setup, this.marked] = [content.axis, content.setup, content.marked];
    let used = 0;
    const take = (count) => fresh.subarray(used, (used += count));
    for (const told of content.curves) {
      const curve = this.curves.get(told.key) ?? { samples: new Samples(), shown: 0 };
      curve.samples.append(take(told.count), this.ruler.counts ? null : take(told.count));
      this.curves.set(told.key, Object.assign(curve, told));
    }
    [this.seq, this.pace] = [content.seq, content.pace];
    this.left = content.reset ? 1 : content.pace.paints;
    this.reveal();
  }

  // Shows part of what has come while runs go on, and all of it once they are at rest.
  reveal() {
    clearTimeout(this.next);
    let waiting = false;
    for (const curve of this.curves.values()) {
      const rest = curve.samples.count - curve.shown;
      curve.shown += curve.live && this.left > 1 ? Math.ceil(rest / this.left) : rest;
      waiting ||= curve.shown < curve.samples.count;
    }
    this.left -= 1;
    if (waiting) this.next = this.after(this.pace.milliseconds, () => this.reveal());
    this.schedule();
  }

  state() {
    const all = [...this.curves.values()];
    const live = all.some((curve) => curve.live);
    const { seq, paints, axis, setup } = this;
    const [tolerance] = this.lines(all);
    const first = this.winners.first.map(({ curve, position }) => [curve.label, position]);
    const count = all.at(-1)?.shown ?? 0;
    return { kind: "painted", seq, paints, axis, setup, count, curves: all.length, live, tolerance, first };
  }

  draw() {
    if (this.width > 0) this.picture([...this.curves.values()]);
    this.report.call();
    if (!this.state().live) this.report.now();
  }

  picture(curves) {
    const fresh = curves.some((curve) => curve.drawn !== curve.shown);
    const lines = this.lines(curves);
    // An axis that moved under the pointer would run away from it.
    const [low, high] = this.held && this.frame ? [this.frame.low, this.frame.high] : exponents(curves, lines);
    const ends = curves.map(({ samples }) => (samples.count && samples.at(samples.count - 1)) || 0);
    const longest = Math.max(this.ruler.least, ...ends);
    const grows = curves.some((curve, place) => curve.live && ends[place] === longest);
    const extent = this.ruler.bound(longest, grows);
    this.winners = this.marked || this.moved !== null ? firstAt(curves, lines[0]) : NOBODY;
    const { first, open } = this.winners;
    const states = curves.map(({ key, live, rings }) => [key, live, rings.length]);
    const there = first.map(({ curve, position }) => [curve.key, position]);
    const as = JSON.stringify([low, high, extent, states, lines, there, open]);
    // What is read out lies over the curves.
    if (this.cursor || as !== this.drawnAs) {
      this.frame = frameOf(this, low, high, extent);
      this.drawAnew(curves);
      this.drawnAs = this.cursor ? "" : as;
    } else {
      this.within(() => curves.forEach((curve) => this.drawOn(curve)));
      this.drawFlag(lines, curves.length);
    }
    this.paints += fresh;
  }

  drawAnew(curves) {
    const { context, palette } = this;
    const { box, low, high, extent, toX, toY } = this.frame;
    this.wipe();
    const most = Math.max(3, Math.min(8, (box.right - box.left) / 80));
    const { ticks, title } = this.ruler.axis(extent, most);
    drawAxes(context, box, palette, {
      xTicks: ticks.map(([position, text]) => [toX(position), text]),
      yTicks: decadeTicks(low, high, 9).map((exponent) => [toY(10 ** exponent), powerOfTen(exponent)]),
      xTitle: title,
      yTitle: "relative residual ‖r‖ / ‖b‖",
      grid: true,
    });
    const lines = this.lines(curves);
    lines.forEach((tolerance) => this.drawTolerance(tolerance));
    this.within(() => {
      for (const curve of curves) {
        Object.assign(curve, { drawn: 0, length: 0 });
        this.drawOn(curve);
        this.drawRings(curve);
      }
    });
    this.drawFlag(lines, curves.length);
    this.reportScale(lines);
    this.readOut(curves);
  }

  // Where the tolerance lines stand, for the hands that move them.
  reportScale(lines) {
    const { box, low, high } = this.frame;
    const told = { kind: "scale", lines, low, high, top: box.top, bottom: box.bottom, right: box.right };
    const text = JSON.stringify(told);
    if (text !== this.reported) this.hear(told);
    this.reported = text;
  }

  within(act) {
    const { left, top, right, bottom } = this.frame.box;
    this.context.save();
    this.context.beginPath();
    this.context.rect(left, top - 6, right - left + 6, bottom - top + 12);
    this.context.clip();
    act();
    this.context.restore();
  }

  // The samples that are not on the canvas yet, joined to the last one that is.
  drawOn(curve) {
    const { samples, shown, colour, dash, marker, drawn } = curve;
    if (drawn === shown) return;
    const { toX, toY, apart } = this.frame;
    const own = onPage(colour, this.palette);
    const points = outline(samples, toX, toY, Math.max(0, drawn - 1), shown);
    drawPolyline(this.context, points, own, dash, curve.length);
    curve.length += lengthOf(points);
    if (drawn === 0) this.drawSetup(samples, own);
    const stretch = (k) => Math.floor(samples.at(k) / apart);
    for (let k = drawn; k < shown; k += 1) {
      if (!(samples.values[k] > 0) || !(stretch(k) > (k > 0 ? stretch(k - 1) : -1))) continue;
      drawMarker(this.context, marker, toX(samples.at(k)), toY(samples.values[k]), own, this.palette.paper);
    }
    curve.drawn = shown;
  }

  // What passed before the first sample, as a thin line up to it.
  drawSetup(samples, colour) {
    const { toX, toY } = this.frame;
    if (!samples.count || !(samples.at(0) > 0) || !(samples.values[0] > 0)) return;
    this.context.lineWidth = 1;
    line(this.context, colour, toX(0), toY(samples.values[0]), toX(samples.at(0)), toY(samples.values[0]));
  }

  drawRings({ rings, samples }) {
    const { context, frame } = this;
    for (const [k, value] of rings) {
      if (!(value > 0) || k >= samples.count || Number.isNaN(samples.at(k))) continue;
      context.strokeStyle = this.palette.ink;
      context.lineWidth = 1.2;
      context.beginPath();
      context.arc(frame.toX(samples.at(k)), frame.toY(value), 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // The relative residuals at which a line is drawn, each once.
  lines(curves) {
    if (this.moved !== null) return [this.moved];
    return [...new Set(curves.map(({ tolerance }) => tolerance))].filter((tolerance) => tolerance > 0);
  }

  drawTolerance(tolerance) {
    const { context, palette } = this;
    const { box, toY } = this.frame;
    const y = toY(tolerance);
    const colour = this.held ? palette.ink : palette.soft;
    context.save();
    context.setLineDash([2, 3]);
    context.lineWidth = this.held ? 2 : 1.2;
    line(context, colour, box.left, y, box.right, y);
    context.restore();
    const below = y + 20 < box.bottom;
    const text = `tolerance ${short(tolerance)}`;
    // On the left, where curves are still far above.
    label(context, colour, text, box.left + 6, y + (below ? 4 : -4), "left", below ? "top" : "bottom", palette.paper);
  }

  drawFlag(lines, count) {
    drawFlag(this.context, this.palette, this.frame, this.ruler, this.winners, lines[0], count === 1);
  }

  // What each curve has reached at the cursor, whose `k` is a position on the axis.
  readOut(curves) {
    const longest = Math.max(0, ...curves.map(({ samples, shown }) => (shown && samples.at(shown - 1)) || 0));
    if (this.cursor === null || longest === 0) {
      if (this.reading) this.hear({ kind: "readout", rows: null });
      this.reading = false;
      return;
    }
    this.reading = true;
    const { box, extent, toX, toY } = this.frame;
    const { x, y } = this.cursor;
    const pointed = x === undefined ? this.cursor.k : this.ruler.round(((x - box.left) / (box.right - box.left)) * extent);
    this.cursor = { k: Math.max(0, Math.min(longest, pointed)), y };
    line(this.context, this.palette.soft, toX(this.cursor.k), box.top, toX(this.cursor.k), box.bottom);
    const found = [];
    for (const { samples, shown, colour, marker, key } of curves) {
      if (!shown || !(this.cursor.k <= samples.at(shown - 1))) continue;
      const k = samples.before(this.cursor.k, shown);
      const value = samples.values[k];
      if (!(value > 0)) continue;
      found.push({ key, colour: onPage(colour, this.palette), marker, x: toX(samples.at(k)), y: toY(value), text: short(value) });
    }
    // Keys have no height: the largest are read out then.
    const apart = (one) => Math.abs(one.y - (y ?? box.top));
    const nearest = [...found].sort((a, b) => apart(a) - apart(b)).slice(0, MOST_READ);
    const read = found.filter((one) => nearest.includes(one));
    for (const one of read) drawMarker(this.context, one.marker, one.x, one.y, one.colour, this.palette.paper, 5);
    const rows = read.map((one) => ({ ...one, nearest: y !== undefined && read.length > 1 && one === nearest[0] }));
    this.hear({ kind: "readout", k: this.ruler.say(this.cursor.k), rows, more: found.length - read.length });
  }
}
