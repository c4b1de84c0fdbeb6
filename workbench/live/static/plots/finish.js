import { line } from "../ui/axes.js";
import { onPage } from "../ui/theme.js";
import { crosses } from "./frame.js";
import { setFont, shortened } from "./plotaxes.js";

// Who is first at a tolerance along the axis, and the flag that says so.

const PAD = 5;
const TALL = 18;
const AWAY = 9;
// Heights of a flag between it and the line, the nearest first.
const FLOORS = [0, 1, 2, 3];

// The first sample of a curve at or below a tolerance, -1 where there is none yet. Each sample is looked at once.
function reached(curve, tolerance) {
  const bound = Math.fround(tolerance);
  if (curve.crossing?.bound !== bound) curve.crossing = { bound, at: -1, seen: 0 };
  const { crossing, samples, shown } = curve;
  for (; crossing.at < 0 && crossing.seen < shown; crossing.seen += 1) {
    if (samples.values[crossing.seen] <= bound) crossing.at = crossing.seen;
  }
  return crossing.at;
}

// first: the curves that need least. open: a run that has spent less is still running and could win.
// A curve whose residual gap has opened by then reaches nothing, and one without positions cannot be compared.
export function firstAt(curves, tolerance) {
  const there = [];
  const onTheWay = [];
  for (const curve of curves) {
    const k = reached(curve, tolerance);
    if (k < 0) onTheWay.push(curve);
    else if (!Number.isNaN(curve.samples.at(k)) && !(curve.residualGapAt >= 0 && curve.residualGapAt <= k)) {
      there.push({ curve, position: curve.samples.at(k) });
    }
  }
  const best = Math.min(Infinity, ...there.map(({ position }) => position));
  const spent = ({ samples, shown }) => (shown ? samples.at(shown - 1) : 0);
  return {
    first: there.filter(({ position }) => position === best),
    open: onTheWay.some((curve) => curve.open && spent(curve) < best),
  };
}

// A ring where the line is reached, and next to it the run and what it took.
export function drawFlag({ context, palette, frame, visible, words }, { first, open }, tolerance, alone) {
  if (!first.length) return;
  const { box, x: across, toX, toY } = frame;
  const { curve, position } = first[0];
  const who = alone ? "reached" : first.length > 1 ? `${first.length} runs together` : `first: ${curve.label}`;
  const [x, y] = [toX(position), toY(tolerance)];
  const colour = onPage(curve.colour, palette);
  context.save();
  context.lineWidth = 2;
  context.fillStyle = palette.paper;
  context.strokeStyle = colour;
  context.beginPath();
  context.arc(x, y, 5, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  context.setLineDash([2, 3]);
  line(context, colour, x, y + 5, x, box.bottom);
  context.setLineDash([]);
  setFont(context, palette);
  const tall = TALL * palette.zoom;
  const text = shortened(context, `${who}, ${across.say(position)}${open ? ", so far" : ""}`, box.right - box.left - 4 * PAD);
  const wide = context.measureText(text).width + 2 * PAD;
  const spot = placeOfFlag(box, x, y, wide, tall, visible.map(({ path }) => path ?? []), words);
  if (spot) drawWords(context, palette, spot, text, tall);
  context.restore();
}

function drawWords(context, palette, { left, top, right }, text, tall) {
  const wide = right - left;
  context.lineWidth = 1.5;
  context.fillRect(left, top, wide, tall);
  context.strokeRect(left, top, wide, tall);
  context.fillStyle = palette.ink;
  [context.textAlign, context.textBaseline] = ["left", "middle"];
  context.fillText(text, left + PAD, top + tall / 2 + 1);
}

// Where the flag hides no curve and no words of a line: below the line no curve has come there before the first one.
// Undefined where there is no such place near the ring; then the ring alone says it.
function placeOfFlag(box, x, y, wide, tall, paths, words) {
  const lefts = [x - wide - AWAY, x + AWAY, x - wide / 2];
  const tops = FLOORS.flatMap((floor) => [y + AWAY + floor * tall, y - tall - AWAY - floor * tall]);
  const places = tops.flatMap((top) => lefts.map((left) => ({ left, top, right: left + wide, bottom: top + tall })));
  const inside = places.filter((spot) => spot.left > box.left && spot.right < box.right && spot.top > box.top && spot.bottom < box.bottom);
  const meets = (spot) => words.some((other) => spot.left < other.right && spot.right > other.left && spot.top < other.bottom && spot.bottom > other.top);
  return inside.find((spot) => !meets(spot) && !paths.some((path) => crosses(path, spot)));
}
