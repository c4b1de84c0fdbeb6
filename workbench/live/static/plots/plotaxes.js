import { line } from "../ui/axes.js";

// The frame of a plot: quantity and unit at the top left, ticks, horizontal grid lines, the title of x beneath.

// Pixels between two ticks, and between the names of rows and of columns.
const APART = { x: 82, y: 52, row: 17, column: 44 };
// Pixels between the labels of two ticks.
const LABEL_GAP = 5;

export function setFont(context, { type, zoom }, size = 12, weight = 400) {
  context.font = `${weight} ${size * zoom}px ${type}`;
}

// rim: the colour around the letters where curves may cross them.
export function drawText(context, colour, words, x, y, align, baseline, rim = "") {
  context.fillStyle = colour;
  [context.textAlign, context.textBaseline] = [align, baseline];
  if (rim) {
    [context.strokeStyle, context.lineWidth, context.lineJoin] = [rim, 4, "round"];
    context.setLineDash([]);
    context.strokeText(words, x, y);
  }
  context.fillText(words, x, y);
}

export function yTicks(scale, height, { zoom }) {
  return scale.ticks(Math.max(3, Math.floor(height / (scale.names ? APART.row : APART.y) / zoom)));
}

// What the labels of y take at the left, in pixels.
export function leftMargin(context, ticks, palette, most) {
  setFont(context, palette);
  return Math.min(most, Math.ceil(Math.max(20, ...ticks.map(([, words]) => context.measureText(words).width))) + 10);
}

export function drawFrame(context, frame, ticks, palette) {
  const { box, x, y, toX, toY } = frame;
  const { zoom, lines } = palette;
  setFont(context, palette);
  drawText(context, palette.soft, y.heading, 3, 14 * zoom, "left", "alphabetic");
  drawText(context, palette.soft, x.heading, (box.left + box.right) / 2, box.bottom + 31 * zoom, "center", "alphabetic");
  context.lineWidth = 1;
  for (const [value, words] of ticks) {
    const at = Math.round(toY(value)) + 0.5;
    if (!y.names) line(context, palette.rule, box.left, at, box.right, at);
    drawText(context, palette.soft, shortened(context, words, box.left - 8), box.left - 7, at, "right", "middle");
  }
  const bottom = Math.round(box.bottom) + 0.5;
  context.lineWidth = lines.axis;
  line(context, palette.edge, box.left, bottom, box.right, bottom);
  drawBottom(context, frame, palette, bottom);
}

// A label that would meet the one before it is left out; of ticks at equal distances every second one, or fewer.
function drawBottom(context, { box, x, toX }, palette, bottom) {
  let taken = -Infinity;
  const apart = x.names ? APART.column : APART.x;
  const ticks = x.ticks(Math.max(2, Math.floor((box.right - box.left) / apart / palette.zoom)));
  const wideOf = (words) => context.measureText(words).width;
  const gaps = ticks.slice(1).map(([value], k) => toX(value) - toX(ticks[k][0]));
  const gap = gaps[0] ?? box.right - box.left;
  const even = !x.names && gaps.every((each) => Math.abs(each - gap) < 1);
  const every = even ? Math.ceil((Math.max(...ticks.map(([, words]) => wideOf(words))) + LABEL_GAP) / gap) : 1;
  for (const [place, [value, words]] of ticks.entries()) {
    const at = Math.round(toX(value)) + 0.5;
    line(context, palette.edge, at, bottom, at, bottom + 4);
    const reported = x.names ? shortened(context, words, gap - 6) : words;
    const half = wideOf(reported) / 2;
    if (place % every || at - half < taken + LABEL_GAP) continue;
    drawText(context, palette.soft, reported, at, bottom + 6, "center", "top");
    taken = at + half;
  }
}

// A text that is cut off where it is too wide.
export function shortened(context, words, most) {
  if (context.measureText(words).width <= most) return words;
  let length = words.length;
  while (length > 1 && context.measureText(`${words.slice(0, length)}…`).width > most) length -= 1;
  return `${words.slice(0, length)}…`;
}
