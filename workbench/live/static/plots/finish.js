import { line } from "../kit/axes.js";
import { onPage } from "../kit/theme.js";

// Who is first at a tolerance along the axis, and the flag that says so.

const PAD = 5;
const TALL = 18;
const AWAY = 9;

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

// first: whoever needs least, several where they need the same. open: a run that has spent less may still come in before.
// A curve whose true residual had parted by then reaches nothing, and one without positions cannot be compared.
export function firstAt(curves, tolerance) {
  const there = [];
  const onTheWay = [];
  for (const curve of curves) {
    const k = reached(curve, tolerance);
    if (k < 0) onTheWay.push(curve);
    else if (!Number.isNaN(curve.samples.at(k)) && !(curve.parted >= 0 && curve.parted <= k)) {
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

// A ring where the line is reached, and beside it whose it is and what it took.
export function drawFlag(context, palette, { box, toX, toY }, ruler, { first, open }, tolerance, alone) {
  if (!first.length) return;
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
  context.font = `12px ${palette.type}`;
  const text = fitted(context, `${who}, ${ruler.say(position)}${open ? ", so far" : ""}`, box.right - box.left - 4 * PAD);
  const wide = context.measureText(text).width + 2 * PAD;
  // No curve has come below the line before the first one: there the flag hides none.
  const below = x - wide - AWAY > box.left && y + TALL + AWAY < box.bottom;
  const left = below ? x - wide - AWAY : Math.min(box.right - wide - 2, x + AWAY);
  const top = below || y - TALL - AWAY < box.top ? y + AWAY : y - TALL - AWAY;
  context.lineWidth = 1.5;
  context.fillRect(left, top, wide, TALL);
  context.strokeRect(left, top, wide, TALL);
  context.fillStyle = palette.ink;
  [context.textAlign, context.textBaseline] = ["left", "middle"];
  context.fillText(text, left + PAD, top + TALL / 2 + 1);
  context.restore();
}

// A text that is cut off where it is too wide.
function fitted(context, text, most) {
  if (context.measureText(text).width <= most) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > most) length -= 1;
  return `${text.slice(0, length)}…`;
}
