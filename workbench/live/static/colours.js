// The colour map cividis (Nunez, Anderton, Renslow 2018), which reads the same with and without colour vision.

const STOPS = [
  [0, 34, 78], [0, 49, 112], [42, 63, 109], [67, 78, 108], [87, 93, 109], [106, 108, 113], [125, 124, 120],
  [145, 139, 120], [165, 156, 116], [188, 174, 108], [210, 192, 96], [233, 211, 78], [254, 232, 56],
];

// 256 colours as red, green, blue, one after the other.
export function cividis() {
  const table = new Uint8ClampedArray(3 * 256);
  for (let k = 0; k < 256; k += 1) {
    const place = (k / 255) * (STOPS.length - 1);
    const stop = Math.min(STOPS.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c += 1) {
      table[3 * k + c] = STOPS[stop][c] + (place - stop) * (STOPS[stop + 1][c] - STOPS[stop][c]);
    }
  }
  return table;
}
