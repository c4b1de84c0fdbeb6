import { crosses } from "./frame.js";
import { setFont, drawText } from "./plotaxes.js";

// The words of a level line, on the ground colour where no curve is: at the left or the right, below or above the line.

const HIGH_OF_WORDS = 14;
const STEP_ASIDE = 24;
// Pixels between the words and a curve, whose end has a ring.
const CLEAR = 8;

// Returns the box that they take, null where there is no room.
export function drawLevelWords({ context, palette, frame, visible }, value, text) {
  const { box } = frame;
  const y = frame.toY(value);
  if (!(y >= box.top && y <= box.bottom)) return null;
  setFont(context, palette, 11);
  const [wide, high] = [context.measureText(text).width + 8, HIGH_OF_WORDS * palette.zoom];
  const paths = visible.map(({ path }) => path ?? []);
  const lefts = [];
  for (let left = box.left + 2; left + wide < box.right - 8; left += STEP_ASIDE) lefts.push(left);
  const toEdge = (left) => Math.min(left - box.left, box.right - left - wide);
  lefts.sort((one, other) => toEdge(one) - toEdge(other));
  const boxes = lefts.flatMap((left) => [y + 3, y - high - 3].map((top) => ({ left, top, right: left + wide, bottom: top + high })));
  const around = ({ left, top, right, bottom }) => ({ left: left - CLEAR, top: top - CLEAR, right: right + CLEAR, bottom: bottom + CLEAR });
  const within = boxes.filter((spot) => spot.bottom < box.bottom && spot.top > box.top);
  const isFree = (reach) => (spot) => !paths.some((path) => crosses(path, reach(spot)));
  const free = within.find(isFree(around)) ?? within.find(isFree((spot) => spot));
  if (!free) return null;
  context.fillStyle = palette.paper;
  context.fillRect(free.left, free.top, wide, high);
  drawText(context, palette.ink, text, free.left + 4, (free.top + free.bottom) / 2, "left", "middle");
  return free;
}
