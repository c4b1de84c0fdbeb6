import { colourMap, signedMap } from "../ui/maps.js";

// The colours of a field: a coefficient, magnitudes, or numbers about zero.

export function mapOf({ quantity, signed }, palette) {
  if (signed) return signedMap(palette);
  return quantity === "coefficient" ? "cividis" : "viridis";
}

// 256 colours as red, green, blue, one after the other.
export function coloursOf(map) {
  return Uint8ClampedArray.from(colourMap(map).flat());
}

const words = new Map();

// The same as pixels of image data, a word each.
export function wordsOf(map) {
  if (!words.has(map)) words.set(map, new Uint32Array(Uint8ClampedArray.from(colourMap(map).flatMap((colour) => [...colour, 255])).buffer));
  return words.get(map);
}
