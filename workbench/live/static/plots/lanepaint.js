import { label } from "../ui/axes.js";

// Paints what can be seen of a lane: a box per event; those narrower than a pixel share their column of pixels, each kernel
// with a height that says how much of that time it took.

const NARROW = 1;
const MOST = 500_000;
// However short an event is, it can be seen.
const LEAST_HEIGHT = 0.15;
const TRACE = 1e-9;
const LETTER = 6.6;
const FEWEST = 5;

// band: {left, width, top, height} in pixels; span: {from, to} in seconds; fills: one per style. Returns the seconds at
// work, the boxes drawn, and the events that share columns.
export function paintLane(context, lane, kernels, fills, span, band) {
  const scale = band.width / (span.to - span.from);
  const [first, end] = lane.between(span.from, span.to);
  const stride = Math.max(1, Math.ceil((end - first) / MOST));
  const columns = new Columns(Math.ceil(band.width), fills.length);
  const boxes = [];
  let busy = 0;
  for (let k = first; k < end; k += stride) {
    const place = stride === 1 ? k : Math.min(end - 1, k + jitter(k, stride));
    const left = Math.max(0, (lane.start[place] - span.from) * scale);
    const right = Math.min(band.width, (lane.end[place] - span.from) * scale);
    if (!kernels[lane.kernel[place]].idle) busy += (right - left) * stride;
    if (right - left >= NARROW && stride === 1) boxes.push([place, left, right]);
    else columns.add(left, right, kernels[lane.kernel[place]].style, stride);
  }
  columns.paint(context, fills, band);
  for (const [place, left, right] of boxes) paintBox(context, kernels[lane.kernel[place]], fills, left, right, band);
  return { busy: busy / scale, boxes: boxes.length, merged: Math.max(0, end - first) - boxes.length };
}

// Of very many events some stand for all. Which ones is scattered, since kernels come in the same order again and again.
function jitter(k, stride) {
  return (Math.imul(k, 2654435761) >>> 8) % stride;
}

function paintBox(context, { name, style }, fills, left, right, band) {
  const width = right - left;
  const { fill, ink, halo } = fills[style];
  context.fillStyle = fill;
  // A slit tells neighbours of one colour apart.
  context.fillRect(band.left + left, band.top, width - (width > 3 ? 0.8 : 0), band.height);
  const letters = Math.floor((width - 4) / LETTER);
  if (letters < Math.min(FEWEST, name.length)) return;
  const text = letters < name.length ? `${name.slice(0, letters - 1)}…` : name;
  label(context, ink, text, band.left + (left + right) / 2, band.top + band.height / 2, "center", "middle", halo);
}

class Columns {
  constructor(count, styles) {
    [this.count, this.styles, this.used] = [count, styles, false];
    this.shares = new Float32Array(count * styles);
  }

  add(left, right, style, weight) {
    this.used = true;
    const column = Math.min(this.count - 1, Math.floor(left));
    const within = Math.min(right, column + 1) - left;
    this.shares[column * this.styles + style] += weight * Math.max(TRACE, within);
    if (right > column + 1 && column + 1 < this.count) {
      this.shares[(column + 1) * this.styles + style] += weight * (right - column - 1);
    }
  }

  paint(context, fills, band) {
    if (!this.used) return;
    const heights = new Float32Array(this.count);
    const factors = new Float32Array(this.count);
    for (let column = 0; column < this.count; column += 1) {
      let total = 0;
      for (let style = 0; style < this.styles; style += 1) total += this.shares[column * this.styles + style];
      if (total > 0) factors[column] = Math.min(1, Math.max(LEAST_HEIGHT, total)) / total;
    }
    // Style by style, because to change the fill costs more than to fill.
    for (let style = 0; style < this.styles; style += 1) {
      context.fillStyle = fills[style].fill;
      for (let column = 0; column < this.count; column += 1) {
        const share = this.shares[column * this.styles + style];
        if (share === 0) continue;
        const height = share * factors[column] * band.height;
        heights[column] += height;
        context.fillRect(band.left + column, band.top + band.height - heights[column], 1, height);
      }
    }
  }
}
