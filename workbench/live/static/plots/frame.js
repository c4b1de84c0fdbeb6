// Where the axes of a convergence plot lie, and how values become pixels.

const MARGIN = { left: 64, top: 10, right: 24, bottom: 42 };
const MARKS = 8;

// stage: width and height in pixels, and the ruler of the axis; low and high: exponents of ten; extent: end of the axis.
export function frameOf({ width, height, ruler }, low, high, extent) {
  const box = { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
  return {
    box,
    low,
    high,
    extent,
    apart: ruler.counts ? Math.max(1, Math.round(extent / MARKS)) : extent / MARKS,
    toX: (position) => box.left + (position / extent) * (box.right - box.left),
    toY: (value) => box.bottom - ((Math.log10(value) - low) / (high - low)) * (box.bottom - box.top),
  };
}

// Powers of ten that hold all curves and lines.
export function exponents(curves, lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of [...curves.flatMap(({ samples }) => [samples.low, samples.high]), ...lines]) {
    if (!(value > 0) || value === Infinity) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [-6, 0];
  const bounds = [Math.floor(Math.log10(low) - 0.05), Math.ceil(Math.log10(high) + 0.05)];
  return bounds[0] === bounds[1] ? [bounds[0], bounds[0] + 1] : bounds;
}
