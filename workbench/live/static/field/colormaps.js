// Colour maps that read the same with and without colour vision: cividis (Nunez, Anderton, Renslow 2018) for magnitudes,
// red and blue that part at zero (Brewer 2003) for what has a sign.

const CIVIDIS = [
  [0, 34, 78], [0, 49, 112], [42, 63, 109], [67, 78, 108], [87, 93, 109], [106, 108, 113], [125, 124, 120],
  [145, 139, 120], [165, 156, 116], [188, 174, 108], [210, 192, 96], [233, 211, 78], [254, 232, 56],
];
const PARTING = [
  [5, 48, 97], [33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240], [247, 247, 247],
  [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43], [103, 0, 31],
];

// 256 colours as red, green, blue, one after the other.
function table(stops) {
  const made = new Uint8ClampedArray(3 * 256);
  for (let k = 0; k < 256; k += 1) {
    const place = (k / 255) * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c += 1) {
      made[3 * k + c] = stops[stop][c] + (place - stop) * (stops[stop + 1][c] - stops[stop][c]);
    }
  }
  return made;
}

const TABLES = { magnitudes: table(CIVIDIS), signed: table(PARTING) };

export function coloursOf({ signed }) {
  return TABLES[signed ? "signed" : "magnitudes"];
}

// The same as pixels of image data, a word each.
const AS_WORDS = Object.fromEntries(Object.entries(TABLES).map(([name, made]) => {
  const bytes = new Uint8ClampedArray(4 * 256).fill(255);
  for (let k = 0; k < 256; k += 1) bytes.set(made.subarray(3 * k, 3 * k + 3), 4 * k);
  return [name, new Uint32Array(bytes.buffer)];
}));

export function wordsOf({ signed }) {
  return AS_WORDS[signed ? "signed" : "magnitudes"];
}
