// Where the axes of a plot lie, and how values become pixels.

// The grip of a tolerance line stands between the axes and the names of curves.
export const GRIP_ROOM = 24;
const BOTTOM = 36;
// Below the buttons of a plot, with room for marks at the end of the axis.
const TOP = 33;
// What is above and below the axes, in pixels.
export const EDGES = TOP + BOTTOM;

// canvas: width and height in pixels; scales x and y; margins: what ticks need on the left and names on the right.
export function frameOf({ width, height, zoom }, x, y, { left, right }) {
  const box = { left, top: TOP * zoom, right: Math.max(left + 20, width - right), bottom: height - BOTTOM * zoom };
  const factorX = (box.right - box.left) / (x.high - x.low);
  const factorY = -(box.bottom - box.top) / (y.high - y.low);
  const offsetX = box.left - factorX * x.low;
  const offsetY = box.bottom - factorY * y.low;
  return {
    box, x, y, offsetX, factorX, offsetY, factorY,
    left: x.outer(x.low),
    right: x.outer(x.high),
    toX: (value) => offsetX + factorX * x.inner(value),
    toY: (value) => offsetY + factorY * y.inner(value),
    fromX: (pixel) => x.outer((pixel - offsetX) / factorX),
    fromY: (pixel) => y.outer((pixel - offsetY) / factorY),
  };
}

export function isWithin(box, x, y, room = 0) {
  return x >= box.left - room && x <= box.right + room && y >= box.top - room && y <= box.bottom + room;
}

// Whether a polyline, as x, y, x, y, comes into a box.
export function crosses(points, box) {
  for (let k = 0; k + 3 < points.length; k += 2) {
    if (touches(box, points[k], points[k + 1], points[k + 2], points[k + 3])) return true;
  }
  return points.length === 2 && isWithin(box, points[0], points[1]);
}

// Whether a line comes into a box: what of the line lies between each pair of sides (Liang and Barsky 1984).
function touches({ left, top, right, bottom }, x0, y0, x1, y1) {
  let [from, to] = [0, 1];
  for (const [low, high, start, step] of [[left, right, x0, x1 - x0], [top, bottom, y0, y1 - y0]]) {
    if (step === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const [one, other] = [(low - start) / step, (high - start) / step];
    [from, to] = [Math.max(from, Math.min(one, other)), Math.min(to, Math.max(one, other))];
  }
  return from <= to;
}
