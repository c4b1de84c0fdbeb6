import { drawAxes, line, linearTicks } from "../ui/axes.js";
import { countText } from "../ui/numbers.js";
import { onPage } from "../ui/theme.js";
import { shadeTicks, titleOf } from "./colorscale.js";

// A vector without a grid: over its unknowns, from the least to the greatest of each stretch.

const FILL = "#0072b2";
// A stretch whose values are alike can be seen too.
const LEAST_PIXELS = 1.5;

// shares: the least of each stretch, then the greatest, 0 for the bottom of the scale to 1 for the top.
export function drawBand(context, box, colours, picture, shares) {
  const { width: count, x, low, high } = picture;
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  const toY = (share) => box.bottom - (low === high ? 0.5 : share) * height;
  const most = Math.max(2, Math.floor(width / 80));
  const ticks = shadeTicks(picture);
  drawAxes(context, box, colours, {
    xTicks: linearTicks(x.low, x.high, most).map((k) => [box.left + (k / x.high) * width, countText(Math.round(k))]),
    yTicks: ticks.map(([share, text]) => [toY(share), text]),
    xTitle: x.label,
    yTitle: titleOf(picture),
    grid: true,
  });
  const zero = ticks.find(([, text]) => text === "0");
  if (zero) line(context, colours.soft, box.left, toY(zero[0]), box.right, toY(zero[0]));
  context.fillStyle = onPage(FILL, colours);
  for (let k = 0; k < count; k += 1) {
    const left = box.left + (k / count) * width;
    const [bottom, top] = [toY(shares[k]), toY(shares[count + k])];
    const tall = Math.max(LEAST_PIXELS, bottom - top);
    context.fillRect(left, (bottom + top - tall) / 2, Math.max(1, width / count), tall);
  }
}
