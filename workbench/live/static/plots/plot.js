import { drawMarker } from "./curve.js";
import { EDGES, frameOf, isWithin } from "./frame.js";
import { drawNames, planNames } from "./names.js";
import { drawWaiting } from "./phasebars.js";
import { drawFrame, leftMargin, setFont, drawText, yTicks } from "./plotaxes.js";
import { Scale } from "./scale.js";
import { drawSlope, slopeSentence } from "./slope.js";
import { Stage } from "../transport/stage.js";
import { atMost } from "../transport/throttle.js";
import { line } from "../ui/axes.js";

// One plot: layers on two axes, that can be zoomed, moved, measured and read out. Subclasses say what the layers are.

// Rows of a readout at most; the plot is not much higher.
const MOST_READ = 10;
// The page receives what a gesture has done so often.
const TOLD_MS = 60;
// What a value of an axis is called that other views have too.
const ITERATION = "iteration";
// The least that can be zoomed to, of the whole, and on an axis of integers.
const [CLOSEST, FEWEST] = [1e-6, 2];
// Pixels of a cell that has a name, with its share of the margins.
const WIDEST = 180;

export class Plot extends Stage {
  // hear(report) receives what is painted, what the pointer points at, and what was clicked.
  constructor(hear) {
    super(hear);
    [this.x, this.y] = [new Scale(), new Scale()];
    this.layers = [];
    // What is shown of each axis, as coordinates; null for all of it.
    this.shown = { x: null, y: null };
    this.off = new Set();
    [this.cursor, this.reading, this.brushed, this.measured] = [null, "", null, null];
    this.names = [];
    this.empty = "";
    this.phases = [];
    this.soon = atMost(TOLD_MS, () => this.report.now());
  }

  get live() {
    return false;
  }

  get visible() {
    return this.layers.filter(({ key }) => !this.off.has(key));
  }

  // What all of the plot spans, as coordinates: {x: [low, high], y: [low, high]}.
  home() {
    return { x: spanOf(this.visible, this.x, "x"), y: spanOf(this.visible, this.y, "y") };
  }

  // cursor: {x, y} in pixels, {by} steps from where it is, or null to take it away; {linked, value, key} is what another
  // view points at, an iteration or the key of a point.
  point({ cursor }) {
    if (cursor?.by === undefined) this.cursor = cursor;
    else {
      const extent = this.x.high - this.x.low;
      const step = this.x.whole ? 1 : extent / 100;
      const [low, high] = this.dataSpan();
      const from = this.cursor?.value ?? this.x.outer(this.x.low);
      const moved = this.x.whole ? from + cursor.by : this.x.outer(this.x.inner(Math.max(from, low)) + cursor.by * step);
      this.cursor = { value: Math.max(low, Math.min(high, moved)) };
    }
    this.schedule();
  }

  dataSpan() {
    const ranges = this.visible.map(({ range }) => range?.x).filter(Boolean);
    if (!ranges.length) return [this.x.outer(this.x.low), this.x.outer(this.x.high)];
    return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
  }

  // from and to: pixels along x; null once the brush is let go.
  brush({ from, to }) {
    this.brushed = from === null ? null : [from, to];
    this.change();
  }

  // Shows what lies between two pixels.
  range({ from, to }) {
    if (!this.frame) return;
    const [low, high] = [from, to].sort((a, b) => a - b).map((pixel) => this.x.inner(this.frame.fromX(pixel)));
    this.brushed = null;
    this.place("x", low, high);
  }

  // factor: below 1 is closer. x and y: the pixel that stays; ways: "x", "y" or "xy".
  zoom({ factor, x, y, ways }) {
    if (!this.frame) return;
    const { box } = this.frame;
    const shares = {
      x: ((x ?? (box.left + box.right) / 2) - box.left) / (box.right - box.left),
      y: (box.bottom - (y ?? (box.top + box.bottom) / 2)) / (box.bottom - box.top),
    };
    for (const way of ways || this.ways) {
      const { low, high } = this[way];
      const width = (high - low) * factor;
      const from = low + Math.max(0, Math.min(1, shares[way])) * (high - low - width);
      this.place(way, from, from + width);
    }
  }

  // Width over height of the axes; 0 fills the plot.
  get square() {
    return 0;
  }

  // Which axes a zoom without a choice moves.
  get ways() {
    return "x";
  }

  pan({ x = 0, y = 0 }) {
    for (const [way, share] of [["x", x], ["y", y]]) {
      if (!this.shown[way] || !share) continue;
      const { low, high } = this[way];
      this.place(way, low + share * (high - low), high + share * (high - low));
    }
  }

  // Shows a stretch of an axis, within all of it.
  place(way, low, high) {
    const [first, last] = this.home()[way];
    const least = this[way].whole && !this[way].log ? FEWEST : CLOSEST * (last - first);
    const width = Math.max(high - low, least);
    const from = Math.max(first, Math.min((low + high) / 2 - width / 2, last - width));
    this.shown[way] = width >= (last - first) * (1 - 1e-9) ? null : [from, from + width];
    this.change();
  }

  reset() {
    this.shown = { x: null, y: null };
    this.measured = null;
    this.change();
  }

  // A ruler between two pixels, which stays where its values are; null takes it away.
  measure({ from, to }) {
    const values = ({ x, y }) => [this.frame.fromX(x), this.frame.fromY(y)];
    this.measured = from && this.frame ? { from: values(from), to: values(to) } : null;
    this.change();
  }

  logarithmic({ way, on }) {
    this[way].log = on;
    this.shown[way] = null;
    this.change();
  }

  // Hides a layer, or shows it again.
  toggle({ key }) {
    if (!this.off.delete(key)) this.off.add(key);
    this.change();
  }

  // A click: on a name it hides a curve, on a point it chooses that.
  press({ x, y }) {
    const named = this.names.find((box) => isWithin(box, x, y));
    if (named) {
      this.toggle(named);
      return;
    }
    this.measured = null;
    const spot = this.spotAt(x, y);
    if (spot?.key) this.hear({ kind: "picked", key: spot.key });
    this.change();
  }

  change() {
    this.outdated();
    this.schedule();
  }

  draw() {
    if (this.width > 0) this.picture();
    this.report.call();
    if (!this.live) this.soon.call();
  }

  picture() {
    this.layOut();
    this.drawAnew();
    this.paints += 1;
  }

  // Where axes and names lie.
  layOut() {
    const { context, palette } = this;
    const home = this.home();
    for (const way of ["x", "y"]) this[way].span(...(this.shown[way] ?? home[way]));
    this.plan = planNames(context, palette, this.layers, this);
    this.ticks = yTicks(this.y, this.height - EDGES * palette.zoom, palette);
    const left = leftMargin(context, this.ticks, palette, 0.34 * this.width);
    // A colour bar stands between the axes and the names.
    this.sideRoom = Math.max(0, ...this.layers.map((layer) => layer.room ?? 0));
    // The last number of x reaches beyond its tick.
    const last = this.x.names ? 0 : 2 + context.measureText(this.x.ticks(4).at(-1)?.[1] ?? "").width / 2;
    const taken = Math.max(last, this.sideRoom + (this.plan.words.size || !this.sideRoom ? this.plan.room : 0));
    const edges = EDGES * palette.zoom;
    const right = Math.max(taken, this.square ? this.width - left - this.square * (this.height - edges) : 0);
    // Where it is narrow, a square plot is lower than its canvas.
    const height = this.square ? Math.min(this.height, (this.width - left - taken) / this.square + edges) : this.height;
    // Cells with names are as wide as a number and a name need, not as the page.
    const most = this.x.names ? Math.max(0, ...this.layers.map(({ columns }) => (columns ?? 0) * WIDEST * palette.zoom)) : 0;
    const spare = most ? Math.max(0, this.width - left - right - most) : 0;
    this.frame = frameOf({ width: this.width, height, zoom: palette.zoom }, this.x, this.y, { left, right: right + spare });
  }

  drawAnew() {
    this.wipe();
    if (!this.bare) drawFrame(this.context, this.frame, this.ticks, this.palette);
    this.drawUnder();
    this.within(() => {
      for (const layer of this.visible) {
        layer.forget?.();
        layer.path = layer.draw(this);
        layer.drawRings?.(this);
      }
    });
    for (const layer of this.visible) layer.drawInMargin?.(this);
    this.drawEmpty();
    this.drawOver();
    this.drawTop();
  }

  // empty: the sentence of a plot without layers. phases: those of a setup, see `drawWaiting`.
  say({ empty, phases }) {
    [this.empty, this.phases] = [empty, phases];
    this.change();
  }

  drawEmpty() {
    if (this.empty && !this.layers.some(({ range }) => range)) drawWaiting(this, this.empty, this.phases);
  }

  // What stands below and above the layers, for subclasses.
  drawUnder() {}

  drawOver() {}

  drawTop() {
    if (this.plan.words.size) this.names = drawNames(this, this.plan);
    else this.names = [];
    if (this.measured) drawSlope(this, this.measured, this.slope);
    this.drawBrush();
    this.readOut();
  }

  get slope() {
    return this.measured ? slopeSentence(this.x, this.y, this.measured.from, this.measured.to) : "";
  }

  drawBrush() {
    if (!this.brushed) return;
    const { box } = this.frame;
    const [left, right] = this.brushed.map((pixel) => Math.max(box.left, Math.min(box.right, pixel)));
    this.context.save();
    this.context.globalAlpha = 0.14;
    this.context.fillStyle = this.palette.accent;
    this.context.fillRect(Math.min(left, right), box.top, Math.abs(right - left), box.bottom - box.top);
    this.context.restore();
  }

  within(act) {
    const { left, top, right, bottom } = this.frame.box;
    this.context.save();
    this.context.beginPath();
    // Marks at the ends of a curve are whole; lines that leave a square plot end with its axes.
    const room = this.square ? 1 : 6;
    this.context.rect(left - 1, top - room, right - left + 1 + room, bottom - top + 1 + room);
    this.context.clip();
    act();
    this.context.restore();
  }

  spotAt(x, y) {
    const spots = this.visible.map((layer) => layer.near?.(this, x, y)).filter(Boolean);
    return spots.sort((one, other) => one.away - other.away)[0];
  }

  // The point with a key.
  spotOf(key) {
    return key ? this.visible.map((layer) => layer.spotOf?.(this, key)).find(Boolean) : undefined;
  }

  // What is read out at the cursor: a point with its words, or the value of each curve; null where there is nothing.
  found() {
    const { cursor, frame } = this;
    if (!cursor) return null;
    if (cursor.x !== undefined && !isWithin(frame.box, cursor.x, cursor.y, 8)) return null;
    const spot = cursor.x === undefined ? this.spotOf(cursor.key) : this.spotAt(cursor.x, cursor.y);
    if (spot) return { at: { x: cursor.x ?? spot.x, y: cursor.y ?? spot.y }, spot, ...this.worded(spot), rows: [], more: 0 };
    const [low, high] = this.dataSpan();
    if (cursor.linked && !(this.x.word === ITERATION && cursor.value >= low && cursor.value <= high)) return null;
    const pointed = cursor.value ?? frame.fromX(cursor.x);
    const value = Math.max(low, Math.min(high, this.x.nearest(pointed)));
    if (cursor.value !== undefined) cursor.value = value;
    const every = this.visible.map((layer) => layer.read?.(this, value)).filter(Boolean);
    if (!every.length) return null;
    // Keys have no height: the largest are read out then.
    const apart = (one) => Math.abs(one.y - (cursor.y ?? frame.box.top));
    const nearest = [...every].sort((a, b) => apart(a) - apart(b)).slice(0, MOST_READ);
    const read = every.filter((one) => nearest.includes(one));
    const first = cursor.y === undefined ? null : nearest[0];
    const rows = read.map((one) => ({ ...one, nearest: read.length > 1 && one === first }));
    const at = { x: cursor.x ?? frame.toX(value), y: cursor.y ?? rows[0].y };
    return { at, value, title: this.x.say(value), lines: [], rows, more: every.length - read.length };
  }

  worded({ words, layer, k }) {
    if (words) return { title: words[0], lines: words.slice(1) };
    const what = layer.word || layer.name || this.y.title;
    if (layer.tall) return { title: `${what}, ${k + 1} of ${layer.x.length}`, lines: [this.x.quantity.say(layer.x[k])] };
    return { title: this.x.say(layer.x[k]), lines: [`${what} ${this.y.quantity.say(layer.y[k])}`] };
  }

  readOut() {
    const found = this.found();
    const reported = { kind: "readout", at: null, iteration: null, key: null };
    if (found) {
      const { context, frame } = this;
      if (found.spot) this.ringed(found.spot);
      else this.drawCross(frame.toX(found.value));
      for (const { x, y, colour, marker } of found.rows) drawMarker(context, marker, x, y, colour, colour, 4.5);
      const say = ({ layer, colour, value, nearest }) => ({ name: layer.name ?? "", colour, text: this.y.quantity.say(value), nearest });
      if (!this.cursor.linked) Object.assign(reported, this.pointedAt(found));
      Object.assign(reported, { at: found.at, title: found.title, lines: found.lines, rows: found.rows.map(say), more: found.more });
    }
    const text = JSON.stringify(reported);
    if (text !== this.reading) this.hear(reported);
    this.reading = text;
  }

  // What other views receive of what is read out.
  pointedAt({ spot, value }) {
    const iteration = this.x.word === ITERATION ? value ?? Math.round(spot.layer.x[spot.k]) : null;
    return { iteration, key: spot?.key || null };
  }

  drawCross(x) {
    const { context, palette, frame } = this;
    context.save();
    context.setLineDash([2, 3]);
    context.lineWidth = 1;
    line(context, palette.soft, x, frame.box.top, x, frame.box.bottom);
    context.restore();
  }

  ringed({ x, y, layer }) {
    const { context, palette } = this;
    if (layer.ring) return layer.ring(this);
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.stroke();
    return undefined;
  }

  state() {
    const { seq, paints, x, y, frame, names, shown } = this;
    const legend = this.layers.filter(({ name }) => name).map((layer) => this.entryOf(layer));
    const spans = { xLow: x.outer(x.low), xHigh: x.outer(x.high), yLow: y.outer(y.low), yHigh: y.outer(y.high) };
    const ticks = { xTicks: frame && !this.bare ? x.ticks(Math.max(2, Math.floor((frame.box.right - frame.box.left) / 82))).map(([, words]) => words) : [] };
    const titles = { xTitle: x.heading, yTitle: y.heading, xLog: x.log, yLog: y.log };
    return {
      kind: "painted", seq, paints, ...spans, ...ticks, ...titles, zoomed: Boolean(shown.x || shown.y), slope: this.slope,
      box: frame?.box ?? null, legend, whole: Boolean(this.plan?.whole), named: names, layers: this.layers.length, live: this.live,
    };
  }

  entryOf(layer) {
    return { key: layer.key, name: layer.name, colour: layer.outlined ? this.palette.ink : layer.colour, faint: Boolean(layer.faint), dash: layer.dash ?? [], marker: layer.tall ? "|" : layer.marker, filled: Boolean(layer.filled), only: !layer.end || layer.only, atEnd: Boolean(layer.end), patch: Boolean(layer.wide), off: this.off.has(layer.key) };
  }
}

// What layers span along one axis, with some room at both ends.
function spanOf(layers, scale, way) {
  const ranges = layers.map(({ range }) => range).filter(Boolean);
  const pick = ({ x, y, logY, first }) => {
    if (way === "y") return scale.log ? logY : y;
    return scale.log ? [first > 0 && Number.isFinite(first) ? Math.max(first, x[0]) : x[0], x[1]] : x;
  };
  const pairs = ranges.map(pick).filter(([low, high]) => low <= high && Number.isFinite(low) && (!scale.log || low > 0));
  if (!pairs.length) return [0, 1];
  const low = scale.inner(Math.min(...pairs.map(([one]) => one)));
  const high = scale.inner(Math.max(...pairs.map(([, one]) => one)));
  const room = high > low ? 0.04 * (high - low) : Math.abs(high) * 0.1 || 0.5;
  return [low - room, high + room];
}
