import { label } from "../ui/axes.js";

// Paints what can be seen of a lane: a box per event as long as it is wide enough; narrower ones share the columns of pixels
// that they lie in, each kernel with a height that says how much of that time it took.

const NARROW = 1;
const MOST = 500_000;
// What takes next to nothing of its column is a line of one pixel.
const TRACE = 1e-9;
const LETTER = 6.6;
const FEWEST = 5;
// Of the colour of what is not pointed at, while a kernel is.
const PALE = 0.3;

// What a lane does from one time to another: boxes that are at least `narrow` pixels wide, and the shares of all others in
// `columns`. busy: seconds at work.
export function coverage(lane, kernels, { from, to }, columns, narrow, most = MOST) {
  const scale = columns.count / (to - from);
  const [first, end] = lane.between(from, to);
  const stride = Math.max(1, Math.ceil((end - first) / most));
  const boxes = [];
  let busy = 0;
  for (let k = first; k < end; k += stride) {
    const place = stride === 1 ? k : Math.min(end - 1, k + jitter(k, stride));
    const left = Math.max(0, (lane.start[place] - from) * scale);
    const right = Math.min(columns.count, (lane.end[place] - from) * scale);
    const { idle, style } = kernels[lane.kernel[place]];
    if (!idle) busy += (right - left) * stride;
    if (right - left >= narrow && stride === 1) boxes.push([place, left, right]);
    else columns.add(left, right, style, stride);
  }
  return { busy: busy / scale, boxes, merged: Math.max(0, end - first) - boxes.length };
}

// band: {left, width, top, height} in pixels, and the zoom of its letters; span: {from, to} in seconds; fills: one per style; lit: the style that is
// pointed at, or -1. Returns the seconds at work, the boxes drawn, the events that share columns, and the words in boxes,
// each as `label` takes it.
export function paintLane(context, lane, kernels, fills, span, band, lit) {
  const columns = new Columns(Math.ceil(band.width), fills.length);
  const { busy, boxes, merged } = coverage(lane, kernels, span, columns, NARROW);
  columns.paint(context, fills, band, lit);
  const words = [];
  for (const [place, left, right] of boxes) {
    const { name, style } = kernels[lane.kernel[place]];
    context.globalAlpha = lit < 0 || lit === style ? 1 : PALE;
    const word = paintBox(context, name, fills[style], left, right, band);
    if (word && context.globalAlpha === 1) words.push(word);
  }
  context.globalAlpha = 1;
  return { busy, boxes: boxes.length, merged, words };
}

// Of very many events some stand for all. Which ones is scattered, since kernels come in the same order again and again.
function jitter(k, stride) {
  return (Math.imul(k, 2654435761) >>> 8) % stride;
}

function paintBox(context, name, { fill, ink }, left, right, band) {
  const width = right - left;
  context.fillStyle = fill;
  // A slit tells neighbours of one colour apart.
  context.fillRect(band.left + left, band.top, width - (width > 3 ? 0.8 : 0), band.height);
  const letters = Math.floor((width - 4) / LETTER / band.zoom);
  if (letters < Math.min(FEWEST, name.length)) return null;
  const text = letters < name.length ? `${name.slice(0, letters - 1)}…` : name;
  const word = [ink, text, band.left + (left + right) / 2, band.top + band.height / 2, "center", "middle", fill];
  label(context, ...word);
  return word;
}

// The share of each column of pixels that each kernel has, by its style.
export class Columns {
  constructor(count, styles) {
    [this.count, this.styles, this.used] = [count, styles, false];
    this.shares = new Float32Array(count * styles);
  }

  add(left, right, style, weight) {
    this.used = true;
    const last = Math.min(this.count - 1, Math.max(Math.floor(left), Math.ceil(right) - 1));
    for (let column = Math.min(this.count - 1, Math.floor(left)); column <= last; column += 1) {
      const within = Math.min(right, column + 1) - Math.max(left, column);
      this.shares[column * this.styles + style] += weight * Math.max(TRACE, within);
    }
  }

  // whole: the share that fills the height.
  paint(context, fills, band, lit = -1, whole = 1) {
    if (!this.used) return;
    const heights = new Float32Array(this.count);
    const factors = new Float32Array(this.count);
    for (let column = 0; column < this.count; column += 1) {
      let total = 0;
      for (let style = 0; style < this.styles; style += 1) total += this.shares[column * this.styles + style];
      if (total > 0) factors[column] = Math.min(1, Math.max(1 / band.height, total / whole)) / total;
    }
    // Style by style, because to change the fill costs more than to fill.
    for (let style = 0; style < this.styles; style += 1) {
      if (!fills[style]) continue;
      context.fillStyle = fills[style].fill;
      context.globalAlpha = lit < 0 || lit === style ? 1 : PALE;
      for (let column = 0; column < this.count; column += 1) {
        const share = this.shares[column * this.styles + style];
        if (share === 0) continue;
        const height = share * factors[column] * band.height;
        heights[column] += height;
        context.fillRect(band.left + column, band.top + band.height - heights[column], 1, height);
      }
    }
    context.globalAlpha = 1;
  }
}
