import { line } from "../ui/axes.js";
import { onPage } from "../ui/theme.js";

// The frame of the plane as its boundary conditions: hatched where a wall is, filled where the pressure is fixed.

export const BAND = 9;
const HELD = "#0072b2";

export function drawSides(context, colours, box, sides, across, up) {
  const { left, top, right, bottom } = box;
  const bands = {
    [`${across}-`]: [left - BAND, top, BAND, bottom - top],
    [`${across}+`]: [right, top, BAND, bottom - top],
    [`${up}-`]: [left, bottom, right - left, BAND],
    [`${up}+`]: [left, top - BAND, right - left, BAND],
  };
  for (const [side, band] of Object.entries(bands)) drawBand(context, colours, band, sides[side] === "dirichlet");
  context.strokeStyle = colours.ink;
  context.lineWidth = 1;
  context.strokeRect(left, top, right - left, bottom - top);
}

function drawBand(context, colours, [left, top, width, height], held) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  if (held) {
    context.fillStyle = onPage(HELD, colours);
    context.fillRect(left, top, width, height);
  } else {
    context.lineWidth = 1;
    for (let k = -height; k < width; k += 6) line(context, colours.soft, left + k, top + height, left + k + height, top);
  }
  context.restore();
}
