import { line } from "../ui/axes.js";
import { onPage } from "../ui/theme.js";
import { drawMarker } from "./curve.js";
import { drawLevelWords } from "./levelwords.js";
import { typeset } from "../ui/numbers.js";
import { setFont, drawText } from "./plotaxes.js";

// What a plot shows besides curves: points, bars, and lines across it.

const REACH = 18;
// Pixels of the smallest words in cells.
const LEGIBLE = 8;

// Points with texts of their own. reported: sizes, texts (a title and lines for each) and keys, each a list or null.
export class PointLayer {
  constructor(reported, x, y) {
    Object.assign(this, reported, { x, y });
  }

  get range() {
    const finite = (values) => values.filter(Number.isFinite);
    const [x, y] = [finite([...this.x]), finite([...this.y, ...(this.spans ?? []).flat()])];
    if (!x.length || !y.length) return null;
    const positive = (values) => values.filter((value) => value > 0);
    return { x: ends(x), y: ends(y), logY: ends(positive(y)), first: Math.min(...positive(x)) };
  }

  draw({ context, frame, palette }) {
    // The spread of each.
    context.lineWidth = 1.25;
    this.spans?.forEach(([low, high], k) => line(context, this.colourOf(k, palette), ...[low, high].flatMap((end) => [frame.toX(this.x[k]), frame.toY(end)])));
    // Some are there to be pointed at only.
    if (this.marker === "") return [];
    for (let k = 0; k < this.x.length; k += 1) {
      const [x, y] = [frame.toX(this.x[k]), frame.toY(this.y[k])];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const colour = this.colourOf(k, palette);
      const size = (this.sizes?.[k] ?? this.size) * palette.zoom;
      if (this.tall) drawTick(context, frame, colour, x, this.y[k], this.tall);
      else if (this.marker === ".") dot(context, colour, x, y, size);
      else drawMarker(context, this.marker, x, y, this.outlined ? palette.ink : colour, this.filled ? colour : palette.paper, size);
    }
    if (this.inside) this.drawInside(context, frame, palette);
    else if (this.labels) this.drawLabels(context, frame, palette);
    return [];
  }

  colourOf(k, palette) {
    return this.faint ? palette.faint : onPage(this.colours?.[k] ?? this.colour, palette);
  }

  // Names next to points, each where it meets none before it.
  drawLabels(context, { toX, toY, box }, palette) {
    setFont(context, palette, 12, 500);
    const taken = Array.from(this.x, (_, k) => this.boxOf(toX(this.x[k]), toY(this.y[k]), this.sizes?.[k] ?? this.size, palette));
    for (let k = 0; k < this.x.length; k += 1) {
      const [x, y, away] = [toX(this.x[k]), toY(this.y[k]), (this.sizes?.[k] ?? this.size) * palette.zoom + 5];
      const wide = context.measureText(this.labels[k]).width;
      const high = 15 * palette.zoom;
      const places = [[x + away, y], [x - away - wide, y], [x - wide / 2, y + away + high / 2], [x - wide / 2, y - away - high / 2]];
      const free = places.find(([left, middle]) => {
        const spot = { left, right: left + wide, top: middle - high / 2, bottom: middle + high / 2 };
        const inside = spot.left > box.left && spot.right < box.right && spot.top > box.top && spot.bottom < box.bottom;
        const apart = (other) => other.left > spot.right || other.right < spot.left || other.top > spot.bottom || other.bottom < spot.top;
        return inside && taken.every(apart) && taken.push(spot);
      });
      if (free) drawText(context, palette.ink, this.labels[k], free[0], free[1], "left", "middle", palette.paper);
    }
  }

  // Words in the middle of cells, of the size that suits the longest of them; one with no room is left to the pointer.
  drawInside(context, { toX, toY }, palette) {
    const [wide, high] = [toX(1) - toX(0), (toY(0) - toY(1)) / palette.zoom].map((side) => 0.86 * side);
    setFont(context, palette, 12, 500);
    const sizes = this.labels.map((words) => Math.min(12, high, (12 * wide) / context.measureText(words).width));
    setFont(context, palette, Math.min(12, ...sizes.filter((size) => size >= LEGIBLE)), 500);
    // Cells are pale on a dark page.
    const ink = palette.dark ? palette.paper : palette.ink;
    sizes.forEach((size, k) => size >= LEGIBLE && drawText(context, ink, this.labels[k], toX(this.x[k]), toY(this.y[k]), "center", "middle"));
  }

  boxOf(x, y, size, { zoom }) {
    const half = size * zoom;
    return { left: x - half, right: x + half, top: y - half, bottom: y + half };
  }

  // The point nearest to a pointer, within its reach.
  near({ frame, palette }, px, py) {
    let best = null;
    for (let k = 0; k < this.x.length; k += 1) {
      const [x, y] = [frame.toX(this.x[k]), frame.toY(this.y[k])];
      const away = Math.hypot(x - px, this.tall ? Math.max(0, Math.abs(y - py) - REACH) : y - py);
      const reach = Math.max(REACH, this.sizes?.[k] ?? 0);
      if (away <= reach && !(away >= best?.away)) best = { k, x, y, away };
    }
    return best && this.described(best, palette);
  }

  described(spot, palette) {
    const colour = this.colourOf(spot.k, palette);
    return { ...spot, key: this.keys?.[spot.k] ?? "", words: this.texts?.[spot.k] ?? null, colour, marker: this.marker, layer: this };
  }

  // The point with a key.
  spotOf({ frame, palette }, key) {
    const k = this.keys?.indexOf(key) ?? -1;
    return k < 0 ? null : this.described({ k, x: frame.toX(this.x[k]), y: frame.toY(this.y[k]), away: 0 }, palette);
  }
}

function ends(values) {
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
}

function dot(context, colour, x, y, size) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fill();
}

// An upright stroke around a height; tall: its half, in the unit of the axis.
function drawTick(context, { toY }, colour, x, height, tall) {
  context.lineWidth = 1.25;
  line(context, colour, x, toY(height - tall), x, toY(height + tall));
}

// Bars from a base to a height. wide: of each, in the unit of the axis.
export class BarLayer {
  constructor(reported, x, y, base) {
    Object.assign(this, reported, { x, y, base });
  }

  get range() {
    const [low, high] = ends([...this.x]);
    const top = ends([...this.y]);
    const positive = [...this.y].filter((value) => value > 0);
    const bottom = this.base ? 0 : Math.min(0, top[0]);
    return { x: [low - this.wide / 2, high + this.wide / 2], y: [bottom, top[1]], logY: [Math.min(...positive) / 2, top[1]], first: low - this.wide / 2 };
  }

  draw({ context, frame, palette }) {
    const { toX, box, y } = frame;
    context.fillStyle = onPage(this.colour, palette);
    context.globalAlpha = this.faint ? 0.2 : 1;
    const toY = (value) => (y.log && value <= 0 ? box.bottom : Math.max(-1e4, Math.min(1e4, frame.toY(value))));
    for (let k = 0; k < this.x.length; k += 1) {
      // Pale bars that meet at a pixel have no seam.
      const [left, right] = [-1, 1].map((side) => Math.round(toX(this.x[k] + (side * this.wide) / 2)));
      if (right < box.left || left > box.right) continue;
      const [top, bottom] = [toY(this.y[k]), toY(this.base?.[k] ?? 0)].map((value) => (this.joined ? Math.round(value) : value));
      const gap = right - left > 5 && !this.faint && !this.joined ? 1 : 0;
      context.fillRect(left, Math.min(top, bottom), Math.max(1, right - left - gap), Math.abs(bottom - top));
    }
    context.globalAlpha = 1;
    return [];
  }

  near({ frame, palette }, px, py) {
    if (this.faint) return null;
    const value = frame.fromX(px);
    const covers = (k) => {
      const base = this.base[k];
      const [low, high] = [frame.y.log && base <= 0 ? frame.box.bottom : frame.toY(base), frame.toY(this.y[k])].sort((a, b) => a - b);
      return py >= low && py <= high;
    };
    // Bars of a column are distinguished by where they begin and end.
    const k = this.x.findIndex((middle, at) => Math.abs(middle - value) <= this.wide / 2 && (!this.base || covers(at)));
    if (k < 0) return null;
    const [x, y] = [frame.toX(this.x[k]), frame.toY(this.y[k])];
    return { k, x, y, away: 0, key: this.keys?.[k] ?? "", words: this.texts?.[k] ?? null, colour: onPage(this.colour, palette), marker: "s", layer: this };
  }
}

// A line across the plot at a value, upright or level, with a label at its end.
export class LineLayer {
  constructor(reported) {
    Object.assign(this, reported);
  }

  get range() {
    return this.upright || !this.fitted ? null : { x: [Infinity, -Infinity], y: [this.value, this.value], logY: [this.value, this.value], first: Infinity };
  }

  draw({ context, frame, palette }) {
    const { box, toX, toY } = frame;
    context.save();
    context.lineWidth = 1;
    context.setLineDash([5, 4]);
    const colour = this.colour ? onPage(this.colour, palette) : palette.ink;
    const at = Math.round(this.upright ? toX(this.value) : toY(this.value)) + 0.5;
    if (this.upright) line(context, colour, at, box.top, at, box.bottom);
    else line(context, colour, box.left, at, box.right, at);
    context.restore();
    if (this.label && this.upright) this.drawWords(context, palette, box, at);
    return [];
  }

  drawWords(context, palette, box, at) {
    setFont(context, palette, 11);
    const wide = context.measureText(this.words).width;
    const left = Math.min(at + 5, box.right - wide);
    context.fillStyle = palette.paper;
    context.fillRect(left - 2, box.top + 8 - 7 * palette.zoom, wide + 4, 14 * palette.zoom);
    drawText(context, palette.ink, this.words, left, box.top + 8, "left", "middle");
  }

  drawInMargin(plot) {
    if (this.label && !this.upright) drawLevelWords(plot, this.value, this.words);
  }

  // A label may hold its value, at {}.
  get words() {
    return this.label.replace("{}", typeset(this.value));
  }
}
