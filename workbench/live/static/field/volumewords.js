import { typeset } from "../ui/numbers.js";
import { titleOf } from "./colorscale.js";
import { levelWords } from "./volumescales.js";

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
