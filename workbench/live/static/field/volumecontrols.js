import { whenNew } from "../transport/throttle.js";
import { typeset } from "../ui/numbers.js";
import { element } from "../ui/page.js";
import { bind, control, follow, labelled, selectOf } from "../ui/traits.js";
import { BAR_WIDTH, drawRamp, shadeTicks, titleOf } from "./colorscale.js";
import { FIELDS, SCALES } from "./quantities.js";

// What the 3D view draws: the quantity and its colours, and each part on or off, with its slider.

const PARTS = ["slices", "surface", "phases", "subdomains"];
const NAMES = { slices: "slices", surface: "isosurface", phases: "phases", subdomains: "subdomains" };
const SHARE = { min: 0, max: 1, step: 0.005 };

// solid() says whether there is a cube, or only its slices.
export function volumeControls(model, changed, solid) {
  const rows = element("div", "wb-fieldrow wb-volumerows");
  const selects = { quantity: selectOf("field", FIELDS), colours: selectOf("colours", SCALES) };
  rows.append(labelled("field", selects.quantity), labelled("colours", selects.colours));
  const checks = Object.fromEntries(PARTS.map((name) => [name, control("checkbox", NAMES[name])]));
  const sliders = { level: control("range", "level of the isosurface", SHARE), apart: control("range", "subdomains drawn apart", SHARE) };
  const level = element("span", "wb-levelwords");
  const roots = Object.fromEntries(PARTS.map((name) => [name, labelled(NAMES[name], checks[name])]));
  const levels = group(roots.surface, sliders.level, level);
  const pieces = group(roots.subdomains, labelled("apart", sliders.apart));
  rows.append(roots.slices, roots.phases, levels, pieces);
  let [shades, still] = [null, null];

  const controls = { ...selects, ...checks, ...sliders };
  const bound = bind(model, controls, () => {
    const words = shades ? levelWords(shades, model.get("level")) : "";
    level.textContent = words;
    sliders.level.setAttribute("aria-valuetext", words);
    const share = `${Math.round(100 * model.get("apart"))} %`;
    sliders.apart.setAttribute("aria-valuetext", share);
    const own = model.get("quantity") === "coefficient";
    const cube = solid();
    roots.phases.hidden = !cube || own || !still?.phases;
    levels.hidden = !cube || (own && !still?.phases);
    pieces.hidden = !cube || !(still?.pieces > 1);
    sliders.level.disabled = !checks.surface.checked;
    sliders.apart.disabled = !checks.subdomains.checked;
  });
  const forget = follow(model, Object.keys(controls), changed);
  const know = whenNew((reported, kept) => {
    [shades, still] = [reported, kept];
    bound.pull();
  });
  return {
    rows,
    // The scale that is shown, and what stays as it is.
    know: ({ low, high, scale, signed, threshold } = {}, { phases, pieces: count } = {}) =>
      know(scale ? { low, high, scale, signed, threshold } : null, { phases, pieces: count }),
    close() {
      forget();
      bound.close();
    },
  };
}

function group(...parts) {
  const made = element("div", "wb-parts");
  made.append(...parts);
  return made;
}

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

// The 3D view in words, for those who cannot see it.

// shown: which parts are drawn, by name, with the `level`, the `position` of the slices, and how many `pieces` are apart.
export function inWords(picture, shown) {
  const { title = "", note = "", size, cells, low, high } = picture;
  if (!size[0]) return `${title}. ${note}`;
  const range = low === high ? typeset(low) : `from ${typeset(low)} to ${typeset(high)}`;
  const parts = [`${title}.`, `${titleOf(picture)} ${range}, ${cells.join(" by ")} cells.`];
  const [x, y, z] = shown.position.map((share) => share.toFixed(3));
  if (shown.slices && !shown.pieces) parts.push(`Slices at x = ${x}, y = ${y}, z = ${z}.`);
  if (shown.surface && !shown.pieces) parts.push(`Isosurface at ${levelWords(picture, shown.level)}.`);
  if (shown.phases && !shown.pieces) parts.push("Surfaces of the phases as glass.");
  if (shown.pieces) parts.push(`${shown.pieces} subdomains drawn apart.`);
  if (shown.turns) parts.push("Arrow keys turn the cube, plus and minus zoom, Home turns it back.");
  return [...parts, note].join(" ");
}
