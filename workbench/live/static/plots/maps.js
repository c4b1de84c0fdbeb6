// Colour maps of plots, from tables of colours at even distances: batlow for counts and times, viridis for magnitudes, vik
// and berlin for what has a sign (Crameri 2018; Smith and van der Walt 2015).

const STOPS = {
  batlow: "011959 134f5b 56734a a3913b f3a26d fbcefa",
  viridis: "440154 3b528b 21918c 5ec962 fde725",
  vik: "001261 0c5a8e 71a8c4 ece5e0 d29f85 a3491c 590008",
  berlin: "9eb0ff 4a8fb8 1c4a61 19100f 5a1f10 a65d4a ffacac",
};
const made = new Map();

// 256 colours as [red, green, blue].
export function colourMap(name) {
  if (!made.has(name)) made.set(name, table(STOPS[name].split(" ").map(rgb)));
  return made.get(name);
}

function rgb(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function table(stops) {
  return Array.from({ length: 256 }, (_, k) => {
    const place = (k / 255) * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(place));
    return stops[stop].map((part, channel) => Math.round(part + (place - stop) * (stops[stop + 1][channel] - part)));
  });
}

export function asHex(colour) {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
