import { farFirst } from "../ui/camera.js";

// Balls as lit surfaces, pixel by pixel, with a translucent plane through them.

const LIGHT = unit([-0.45, 0.62, 0.64]);
const HALF = unit([LIGHT[0], LIGHT[1], LIGHT[2] + 1]);
const VEILING = 0.3;

// Paints into the pixels of a square picture. scale: pixels in a side length. plane: {axis, position, colour}; colours
// as [red, green, blue]; marked: the ball that has another colour.
export function paintBalls(image, rows, view, scale, { colour, marked, markedColour, plane }) {
  image.data.fill(0);
  const cut = cutter(view, plane);
  for (const ball of farFirst(rows, view)) {
    paintBall(image, ball, scale, ball.index === marked ? markedColour : colour, cut, plane.colour);
  }
}

function paintBall({ data, width, height }, { r, at }, scale, colour, cut, veil) {
  const [middleX, middleY, reach] = [width / 2 + at[0] * scale, height / 2 - at[1] * scale, r * scale];
  const [top, bottom] = [Math.max(0, Math.floor(middleY - reach - 1)), Math.min(height - 1, Math.ceil(middleY + reach + 1))];
  for (let j = top; j <= bottom; j += 1) {
    const dy = (middleY - j - 0.5) / reach;
    const half = reach * Math.sqrt(Math.max(0, 1 - dy * dy)) + 1;
    const [first, last] = [Math.max(0, Math.floor(middleX - half)), Math.min(width - 1, Math.ceil(middleX + half))];
    for (let i = first; i <= last; i += 1) {
      const dx = (i + 0.5 - middleX) / reach;
      const distance = Math.hypot(dx, dy);
      // The share of the pixel that the ball covers, so that its edge is smooth.
      const cover = Math.min(1, (1 - distance) * reach + 0.5);
      if (cover <= 0) continue;
      const dz = Math.sqrt(Math.max(0, 1 - distance * distance));
      const lit = 0.48 + 0.52 * Math.max(0, dx * LIGHT[0] + dy * LIGHT[1] + dz * LIGHT[2]);
      const glint = 90 * Math.max(0, dx * HALF[0] + dy * HALF[1] + dz * HALF[2]) ** 40;
      const [x, y] = [(i + 0.5 - width / 2) / scale, (height / 2 - j - 0.5) / scale];
      const before = cut(x, y, at[2] + r * dz);
      const rim = Math.abs(before) * scale < 1.2;
      const k = 4 * (j * width + i);
      for (let c = 0; c < 3; c += 1) {
        let value = colour[c] * lit + glint;
        if (rim) value *= 0.35;
        else if (before > 0) value += VEILING * (veil[c] - value);
        data[k + c] += (value - data[k + c]) * cover;
      }
      data[k + 3] += (255 - data[k + 3]) * cover;
    }
  }
}

// How far the plane lies before a point of a ball, along the ray; below zero behind it, NaN where the ray misses it.
function cutter({ right, up, near }, { axis, position }) {
  if (Math.abs(near[axis]) < 1e-6) return () => NaN;
  const [one, other] = [0, 1, 2].filter((side) => side !== axis);
  const outside = (side, x, y, depth) => Math.abs(right[side] * x + up[side] * y + near[side] * depth) > 0.5;
  return (x, y, depth) => {
    const met = (position - 0.5 - right[axis] * x - up[axis] * y) / near[axis];
    return outside(one, x, y, met) || outside(other, x, y, met) ? NaN : met - depth;
  };
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
