import { typeset } from "../ui/numbers.js";
import { BAR_WIDTH, drawRamp, shadeTicks, titleOf } from "./colorscale.js";

// The scale of the 3D view: its bar with the level of the isosurface, and levels in words.

const [GAP, TITLE] = [6, 20];

// The numbers at a level, a share of the scale; those of a signed quantity are taken to both sides of zero.
function atLevel({ low, high, scale, signed, threshold }, level) {
  if (scale === "log") return low * (high / low) ** level;
  if (scale === "linear") return signed ? level * high : low + level * (high - low);
  const reach = level * (1 + Math.log10(high / threshold));
  return reach <= 1 ? reach * threshold : threshold * 10 ** (reach - 1);
}

export function levelWords(shades, level) {
  return `${shades.signed ? "±\u202f" : ""}${typeset(atLevel(shades, level))}`;
}

// Pixels that the bar needs at the right.
export function scaleRoom(context, shades) {
  return BAR_WIDTH + GAP + Math.max(...shadeTicks(shades).map(([, text]) => context.measureText(text).width)) + 16;
}

// levels: shares of the bar that a mark points at.
export function drawScale(context, { left, top, bottom, right }, colours, shades, levels) {
  const size = bottom - top;
  drawRamp(context, { left, top, size }, colours, shades);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = colours.soft;
  for (const [share, text] of shadeTicks(shades)) context.fillText(text, left + BAR_WIDTH + GAP, bottom - share * size);
  context.fillStyle = colours.ink;
  for (const share of levels) {
    const y = bottom - share * size;
    context.beginPath();
    context.moveTo(left - 8, y - 4.5);
    context.lineTo(left - 1, y);
    context.lineTo(left - 8, y + 4.5);
    context.fill();
  }
  context.textAlign = "right";
  context.fillText(titleOf(shades), right, top - TITLE);
}
