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

// Pixels of values 1, 2, ... that are kinds, each in its colour as #rrggbb; of 0 none.
export function wordsOfKinds(colours) {
  const made = new Uint32Array(256);
  colours.forEach((colour, k) => {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    new Uint8ClampedArray(made.buffer, 4 * (k + 1), 4).set([red, green, blue, 255]);
  });
  return made;
}
