// One curve: samples that grow, a path with no more points than pixels can show, marks that tell curves apart.

const DENSE = 400;
// Pixels beyond which a canvas does not draw exactly; a line that leaves the picture further ends there.
const FAR = 1e5;

const near = (y) => Math.max(-FAR, Math.min(FAR, y));

export class Samples {
  constructor() {
    this.count = 0;
    this.values = new Float32Array(1024);
    // Their logarithms, since a logarithm for each sample of each picture would take longer than the drawing.
    this.logs = new Float32Array(1024);
    // Where each sample lies along the picture; null where that is its number.
    this.positions = null;
    // Of the values that have a logarithm, and of all that are finite.
    [this.low, this.high, this.least, this.most] = [Infinity, 0, Infinity, -Infinity];
    this.sorted = true;
  }

  append(fresh, positions) {
    const begun = this.count;
    this.values = extended(this.values, begun, fresh);
    this.logs = extended(this.logs, begun, fresh);
    if (positions) this.positions = extended(this.positions ?? new Float32Array(1024), begun, positions);
    this.count = begun + fresh.length;
    for (let k = begun; k < this.count; k += 1) this.meet(k);
  }

  meet(k) {
    const value = this.values[k];
    this.logs[k] = value > 0 ? Math.log10(value) : NaN;
    this.sorted &&= k === 0 || !(this.at(k) < this.at(k - 1));
    if (!Number.isFinite(value)) return;
    [this.least, this.most] = [Math.min(this.least, value), Math.max(this.most, value)];
    if (value > 0) [this.low, this.high] = [Math.min(this.low, value), Math.max(this.high, value)];
  }

  at(k) {
    return this.positions ? this.positions[k] : k;
  }

  // The last of the first `shown` samples that lies at or before a position, -1 where none does.
  before(position, shown) {
    let [low, high] = [0, shown];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle) <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // The sample nearest to a position along x, -1 where there is none.
  nearest(position, shown) {
    if (!this.sorted) return closest(this, position, shown);
    const k = this.before(position, shown);
    if (k < 0) return shown ? 0 : -1;
    return k + 1 < shown && this.at(k + 1) - position < position - this.at(k) ? k + 1 : k;
  }
}

function closest(samples, position, shown) {
  let [best, apart] = [-1, Infinity];
  for (let k = 0; k < shown; k += 1) {
    const away = Math.abs(samples.at(k) - position);
    if (away < apart) [best, apart] = [k, away];
  }
  return best;
}

function extended(array, count, fresh) {
  const needed = count + fresh.length;
  let roomy = array;
  if (needed > array.length) {
    roomy = new Float32Array(Math.max(needed, 2 * array.length));
    roomy.set(array.subarray(0, count));
  }
  roomy.set(fresh, count);
  return roomy;
}

// The points of a polyline from one sample up to another, as a flat list x, y, x, y, as far as they are in sight. Where
// several samples share a pixel column, the first, the smallest, the largest and the last of them keep the outline of the
// full curve. Samples that an axis does not have are left out.
export function outline(samples, frame, from, end) {
  const [first, last] = samples.sorted ? inSight(samples, frame, from, end) : [from, end];
  const heights = frame.y.log ? samples.logs : samples.values;
  const [a, b] = [frame.offsetY, frame.factorY];
  if (!samples.sorted) return whole(samples, frame, heights);
  const points = [];
  let [column, begin, low, high, latest] = [NaN, 0, 0, 0, 0];
  const flush = () => {
    if (Number.isNaN(column)) return;
    points.push(column, begin);
    if (low < Math.min(begin, latest)) points.push(column, low);
    if (high > Math.max(begin, latest)) points.push(column, high);
    if (latest !== begin) points.push(column, latest);
  };
  for (let k = first; k < last; k += 1) {
    const y = near(a + b * heights[k]);
    const x = Math.round(frame.toX(samples.at(k)));
    if (!Number.isFinite(heights[k]) || Number.isNaN(x)) continue;
    if (x === column) {
      [low, high, latest] = [Math.min(low, y), Math.max(high, y), y];
    } else {
      flush();
      [column, begin, low, high, latest] = [x, y, y, y, y];
    }
  }
  flush();
  return exact(points, samples, frame, first, last);
}

// Where samples are far more than pixels they are rounded; where a curve has room, its points are exact.
function exact(points, samples, frame, first, last) {
  const { left, right } = frame.box;
  if (last - first > Math.max(points.length / 2, 2 * (right - left))) return points;
  const heights = frame.y.log ? samples.logs : samples.values;
  const found = [];
  for (let k = first; k < last; k += 1) {
    const [x, y] = [frame.toX(samples.at(k)), near(frame.offsetY + frame.factorY * heights[k])];
    if (Number.isFinite(heights[k]) && Math.abs(x) < 1e6) found.push(x, y);
  }
  return found;
}

function whole(samples, frame, heights) {
  const points = [];
  for (let k = 0; k < samples.count; k += 1) {
    points.push(frame.toX(samples.at(k)), frame.offsetY + frame.factorY * heights[k]);
  }
  return points;
}

// One sample more on either side, so that lines leave the picture where they do.
function inSight(samples, { left, right }, from, end) {
  return [Math.max(from, samples.before(left, end) - 1), Math.min(end, samples.before(right, end) + 3)];
}

// offset: length of the line before the first point, so that dashes continue where they stopped.
export function drawPolyline(context, points, colour, dash, offset = 0, width = 1.75) {
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = width;
  // Round joins of a dense path cost more than all the rest, and are not visible.
  context.lineJoin = points.length > DENSE ? "bevel" : "round";
  context.setLineDash(dash);
  context.lineDashOffset = offset;
  context.beginPath();
  for (let k = 0; k < points.length; k += 2) context.lineTo(points[k], points[k + 1]);
  context.stroke();
  context.restore();
}

export function lengthOf(points) {
  let sum = 0;
  for (let k = 2; k < points.length; k += 2) sum += Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]);
  return sum;
}

// Marks as corners in units of their size; those of strokes only are lists of lines.
const CORNERS = {
  s: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  "^": [[0, -1.15], [1.1, 0.85], [-1.1, 0.85]],
  v: [[0, 1.15], [1.1, -0.85], [-1.1, -0.85]],
  D: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
};
const STROKES = {
  x: [[-0.9, -0.9, 0.9, 0.9], [-0.9, 0.9, 0.9, -0.9]],
  "+": [[-1.1, 0, 1.1, 0], [0, -1.1, 0, 1.1]],
  "*": [[0, -1.15, 0, 1.15], [-1, -0.6, 1, 0.6], [-1, 0.6, 1, -0.6]],
  _: [[-1, 0, 1, 0]],
  "|": [[0, -1.5, 0, 1.5]],
};

export function drawMarker(context, marker, x, y, colour, paper, size = 4) {
  context.save();
  context.translate(x, y);
  context.beginPath();
  if (CORNERS[marker]) {
    for (const [across, up] of CORNERS[marker]) context.lineTo(across * size, up * size);
    context.closePath();
  } else if (STROKES[marker]) {
    for (const [x0, y0, x1, y1] of STROKES[marker]) {
      context.moveTo(x0 * size, y0 * size);
      context.lineTo(x1 * size, y1 * size);
    }
  } else context.arc(0, 0, size * 0.95, 0, 2 * Math.PI);
  context.fillStyle = paper;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  if (!STROKES[marker]) context.fill();
  context.stroke();
  context.restore();
}
