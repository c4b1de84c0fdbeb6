// Colour maps, from published tables of 256 colours at even distances: batlow for counts and times, viridis for magnitudes,
// cividis for a coefficient, vik and berlin for what has a sign, with zero light and dark (Crameri 2018; Smith and van der
// Walt 2015; Nunez, Anderton, Renslow 2018).

const STOPS = {
  batlow: "011959 0d315d 114360 165262 226061 356a59 4d734d 667a3f 818232 a08a2b bf9035 db954c f29d6c fca891 fdb4b4 fcc0d6 faccfa",
  viridis: "440154 48186a 472d7b 424086 3b528b 33638d 2c728e 26818e 21908c 1f9f88 28ae80 3ebc74 5dc963 82d34c abdc32 d5e21a fde725",
  cividis: "00224e 003171 2b406d 434e6c 575d6d 6a6c71 7c7b78 908b78 a59c74 bbad6c d2bf60 e9d24e fee838",
  vik: "001261 022b71 034481 0c5e92 2f7ca6 609dbc 92bdd2 c5dbe5 ece5e1 e9cbb9 dcab8f cf8e68 c37243 b3531f 932e06 741506 590008",
  berlin: "9eb0ff 79abed 529fd3 3686ad 286886 1d4b61 14313f 111a20 190c09 2a0e01 401201 5a1c07 7c331d 9c503d bc6e61 dd8d86 ffadad",
};
const made = new Map();

// 256 colours as [red, green, blue].
export function colourMap(name) {
  if (!made.has(name)) made.set(name, table(STOPS[name].split(" ").map(rgb)));
  return made.get(name);
}

// The map of what has a sign: zero is light on a light page and dark on a dark one.
export function signedMap({ dark }) {
  return dark ? "berlin" : "vik";
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
