import { isWithin } from "./frame.js";
import { typeset } from "../ui/numbers.js";
import { setFont, drawText } from "./plotaxes.js";

// The slope ruler: two points of a plot, and what lies between them as a sentence.

// from and to: [x, y] as values.
export function slopeSentence(x, y, [x0, y0], [x1, y1]) {
  if (x.log && y.log) return `grows as x to the power ${typeset(Math.log10(y1 / y0) / Math.log10(x1 / x0))}`;
  const per = x1 - x0;
  if (!per || x.log) return "";
  if (!y.log) return `${typeset((y1 - y0) / per)} per ${x.word || x.title}`;
  const decades = Math.log10(y1 / y0) / per;
  if (Math.abs(decades * per) < 1e-3) return "level";
  const every = 1 / Math.abs(decades);
  const said = x.kind === "count" ? `${typeset(every)} ${x.title}s` : x.quantity.say(every);
  return `10 times ${decades < 0 ? "smaller" : "larger"} every ${said}`;
}

export function drawSlope({ context, frame, palette }, { from, to }, sentence) {
  const ends = [from, to].map(([x, y]) => [frame.toX(x), frame.toY(y)]);
  const { box } = frame;
  if (!ends.some(([x, y]) => isWithin(box, x, y, 4))) return;
  context.save();
  context.strokeStyle = palette.accent;
  context.fillStyle = palette.paper;
  context.lineWidth = 1.5;
  context.beginPath();
  ends.forEach(([x, y]) => context.lineTo(x, y));
  context.stroke();
  for (const [x, y] of ends) {
    context.beginPath();
    context.arc(x, y, 3.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
  setFont(context, palette, 12, 500);
  const wide = context.measureText(sentence).width;
  const [middleX, middleY] = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
  const left = Math.max(box.left + 4, Math.min(middleX + 12, box.right - wide - 4));
  const top = Math.max(box.top + 10, Math.min(middleX + 12 > left ? Math.min(ends[0][1], ends[1][1]) - 16 : middleY - 14, box.bottom - 12));
  context.fillRect(left - 4, top - 9 * palette.zoom, wide + 8, 18 * palette.zoom);
  drawText(context, palette.accent, sentence, left, top, "left", "middle");
  context.restore();
}
