// One curve: samples that grow, a path with no more points than pixels can show, markers that tell curves apart.

export class Samples {
  constructor() {
    this.count = 0;
    this.values = new Float32Array(1024);
    // Where each sample lies along the picture; null where that is its number.
    this.positions = null;
    [this.low, this.high] = [Infinity, 0];
  }

  append(fresh, positions) {
    const needed = this.count + fresh.length;
    this.values = extended(this.values, this.count, fresh);
    if (positions) this.positions = extended(this.positions ?? new Float32Array(1024), this.count, positions);
    for (const value of fresh) {
      if (!(value > 0) || value === Infinity) continue;
      this.low = Math.min(this.low, value);
      this.high = Math.max(this.high, value);
    }
    this.count = needed;
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

// The points of a polyline from one sample up to another, as a flat list x, y, x, y. Where several samples share a pixel column, the first, the smallest,
// the largest and the last of them keep the outline of the full curve. Samples that have no logarithm are left out.
export function outline(samples, toX, toY, from, end) {
  const points = [];
  let column = null;
  const flush = () => {
    if (!column) return;
    const { x, first, last, low, high } = column;
    points.push(x, first);
    if (low !== high) points.push(x, low, x, high, x, last);
    column = null;
  };
  for (let k = from; k < end; k += 1) {
    const value = samples.values[k];
    const position = samples.at(k);
    if (!(value > 0) || value === Infinity || Number.isNaN(position)) continue;
    const y = toY(value);
    const exact = toX(position);
    const x = Math.round(exact * 2) / 2;
    if (column && column.x === x) {
      column.low = Math.min(column.low, y);
      column.high = Math.max(column.high, y);
      column.last = y;
    } else {
      flush();
      column = { x, first: y, last: y, low: y, high: y };
    }
  }
  flush();
  return points;
}

// offset: length of the line before the first point, so that dashes go on where they stopped.
export function drawPolyline(context, points, colour, dash, offset = 0) {
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = 1.8;
  context.lineJoin = "round";
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

export function drawMarker(context, marker, x, y, colour, paper, size = 4) {
  context.save();
  context.translate(x, y);
  context.beginPath();
  switch (marker) {
    case "s":
      context.rect(-size * 0.85, -size * 0.85, size * 1.7, size * 1.7);
      break;
    case "^":
      polygon(context, [[0, -size], [size, size * 0.8], [-size, size * 0.8]]);
      break;
    case "v":
      polygon(context, [[0, size], [size, -size * 0.8], [-size, -size * 0.8]]);
      break;
    case "D":
      polygon(context, [[0, -size], [size, 0], [0, size], [-size, 0]]);
      break;
    case "x":
      context.moveTo(-size, -size);
      context.lineTo(size, size);
      context.moveTo(-size, size);
      context.lineTo(size, -size);
      break;
    default:
      context.arc(0, 0, size * 0.95, 0, 2 * Math.PI);
  }
  context.fillStyle = paper;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
  context.restore();
}

function polygon(context, corners) {
  for (const [x, y] of corners) context.lineTo(x, y);
  context.closePath();
}
