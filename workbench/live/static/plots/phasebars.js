import { label, line } from "../ui/axes.js";
import { timeText } from "../ui/units.js";
import { drawText, setFont, shortened } from "./plotaxes.js";

// What an empty plot says, and below it the phases of the setup that its run is in: a hatched bar and a time for each.

const [ROW_PX, GAP_PX, LEAST_PX] = [19, 8, 3];

// phases: [name, seconds, done] in their order.
export function drawWaiting({ context, frame: { box }, palette }, words, phases) {
  const row = ROW_PX * palette.zoom;
  const shown = phases.slice(-Math.max(0, Math.floor((box.bottom - box.top) / row) - 2));
  const middle = (box.left + box.right) / 2;
  let y = (box.top + box.bottom - shown.length * row) / 2;
  if (shown.length) {
    context.fillStyle = palette.paper;
    context.fillRect(box.left, y - row, box.right - box.left, (shown.length + 2) * row);
  }
  setFont(context, palette, 13);
  label(context, palette.soft, shortened(context, words, box.right - box.left - 20), middle, y, "center", "middle", palette.paper);
  setFont(context, palette);
  const longest = Math.max(...shown.map(([, seconds]) => seconds), 1e-9);
  const room = (box.right - middle) / 2;
  for (const [name, seconds, done] of shown) {
    y += row;
    const length = done ? Math.max(LEAST_PX, (room * seconds) / longest) : room;
    drawText(context, palette.soft, shortened(context, name, middle - box.left - 2 * GAP_PX), middle - GAP_PX, y, "right", "middle");
    context.save();
    context.lineWidth = done ? 7 * palette.zoom : 1;
    context.setLineDash(done ? [2, 2] : [4, 4]);
    line(context, palette.soft, middle, y, middle + length, y);
    context.restore();
    drawText(context, palette.soft, done ? timeText(seconds) : "…", middle + length + GAP_PX, y, "left", "middle");
  }
}
