import { decadeTicks, label, linearTicks } from "../ui/axes.js";
import { powerOfTen, typeset } from "../ui/numbers.js";
import { mapOf, wordsOf } from "./colormaps.js";

// A scale of numbers as the kernel describes it: {low, high, scale, signed, threshold}. Its ticks, and its colour bar.

export const BAR_WIDTH = 14;
const [APART, WORDS] = [16, 5];
const MOST_TICKS = 7;
// Such a number always has room, so that pictures next to each other, and of other iterations, are of one size.
const USUAL = "−10⁻¹⁰";

// Where a number lies on the scale, 0 for low to 1 for high; the same as in the kernel.
function shareOf({ low, high, scale, signed, threshold }, value) {
  if (scale === "log") return Math.log(value / low) / Math.log(high / low);
  if (scale === "linear") return (value - low) / (high - low);
  const size = Math.abs(value) / threshold;
  const reach = (size <= 1 ? size : 1 + Math.log10(size)) / (1 + Math.log10(high / threshold));
  return signed ? 0.5 + 0.5 * Math.sign(value) * reach : reach;
}

// [share, text] of each tick.
export function shadeTicks(shades) {
  const { low, high, scale } = shades;
  if (low === high) return [[0.5, typeset(low)]];
  const at = (value, text) => [shareOf(shades, value), text];
  if (scale === "linear") return evenly(linearTicks(low, high, 5), at);
  if (scale === "symlog") return bothSides(shades, at);
  const ticks = decadeTicks(Math.log10(low), Math.log10(high), MOST_TICKS);
  if (ticks.length < 2) return [[0, typeset(low)], [1, typeset(high)]];
  return ticks.map((exponent) => at(10 ** exponent, powerOfTen(exponent)));
}

// With as many digits as tell neighbours apart.
function evenly(values, at) {
  const ratio = values.length > 1 ? Math.max(...values.map(Math.abs)) / (values[1] - values[0]) : 1;
  const digits = Math.min(15, Math.max(3, Math.ceil(Math.log10(ratio)) + 1));
  return values.map((value) => at(value, typeset(value, digits)));
}

function bothSides({ high, signed, threshold }, at) {
  const powers = decadeTicks(Math.log10(threshold) + 0.3, Math.log10(high), MOST_TICKS);
  const above = powers.map((exponent) => at(10 ** exponent, powerOfTen(exponent)));
  const below = signed ? powers.map((exponent) => at(-(10 ** exponent), `−${powerOfTen(exponent)}`)) : [];
  return [...below.reverse(), at(0, "0"), ...above];
}

// What the scale shows, in words.
export function titleOf({ bar, scale, threshold }) {
  return scale === "symlog" ? `${bar}, linear within ±${typeset(threshold)}` : bar;
}

// Pixels to the right of a picture that its bar needs.
export function barRoom(context, shades) {
  const widths = [USUAL, ...shadeTicks(shades).map(([, text]) => text)].map((text) => context.measureText(text).width);
  return APART + BAR_WIDTH + WORDS + Math.max(...widths) + 2;
}

// All colours, a pixel each, the highest on top; made once for each kind of scale.
const ramps = new Map();

function ramp(map, even) {
  const kind = `${map} ${even}`;
  if (!ramps.has(kind)) ramps.set(kind, makeRamp(wordsOf(map), even));
  return ramps.get(kind);
}

function makeRamp(words, even) {
  const made = new OffscreenCanvas(1, 256);
  const context = made.getContext("2d");
  const data = context.createImageData(1, 256);
  new Uint32Array(data.data.buffer).set(even ? words.slice().fill(words[128]) : words.slice().reverse());
  context.putImageData(data, 0, 0);
  return made;
}

export function drawRamp(context, { left, top, size }, colours, shades) {
  context.drawImage(ramp(mapOf(shades, colours), shades.low === shades.high), left, top, BAR_WIDTH, size);
  context.strokeStyle = colours.soft;
  context.lineWidth = 1;
  context.strokeRect(left, top, BAR_WIDTH, size);
}

// titleAt: the right end and the bottom of the title, above the bar.
export function drawBar(context, box, colours, shades, titleAt) {
  const left = box.right + APART;
  const size = box.bottom - box.top;
  drawRamp(context, { left, top: box.top, size }, colours, shades);
  for (const [share, text] of shadeTicks(shades)) {
    label(context, colours.soft, text, left + BAR_WIDTH + WORDS, box.bottom - share * size, "left", "middle");
  }
  label(context, colours.soft, titleOf(shades), ...titleAt, "right", "bottom");
}
