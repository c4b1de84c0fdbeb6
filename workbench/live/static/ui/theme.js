// Colours and type of the page, so that a canvas fits a light and a dark theme alike.

// Variables of the page, the first that is set, then what stands for them on a light and on a dark ground.
const TOKENS = {
  ink: [["--wb-ink", "--jp-content-font-color1"], "#1b1d22", "#e9eaed"],
  soft: [["--wb-ink-2", "--jp-content-font-color2"], "#535863", "#a8adb8"],
  rule: [["--wb-hair", "--jp-border-color2"], "#e3e3df", "#2e323b"],
  edge: [["--wb-edge", "--jp-border-color1"], "#858a94", "#737985"],
  paper: [["--wb-ground", "--jp-layout-color0"], "#ffffff", "#14161a"],
  hover: [["--wb-hover", "--jp-layout-color2"], "#ececea", "#292d35"],
  accent: [["--wb-accent"], "#4a45c4", "#a9a5ff"],
  faint: [["--wb-faint"], "#a9adb5", "#5b606b"],
};
// Series by the colour that a figure prints them in: the same order as workbench/plots/figures/style.py.
const SERIES = [
  ["#0072b2", "#56b4e9"], ["#d55e00", "#ff8a45"], ["#008a64", "#27c597"], ["#b5508a", "#e59cc6"], ["#6e5a00", "#f0c64a"],
  ["#3f434c", "#d4d7dd"], ["#4a93c4", "#8fa8ff"], ["#7a1f2b", "#c9a27c"],
];
const SEEN = ["data-jp-theme-light", "data-theme", "data-wb-theme", "data-wb-mode", "data-wb-by", "class"];
const LINES = { curve: 1.75, chosen: 2.75, mark: 3.5, axis: 1 };

export function theme(element) {
  const style = getComputedStyle(element);
  const read = (names) => names.map((name) => style.getPropertyValue(name).trim()).find(Boolean);
  const dark = isDark(style);
  // A mixture of colours is text until an element has it.
  const probe = document.createElement("i");
  element.parentNode?.append(probe);
  const resolved = (value) => {
    if (!value.includes("color-mix")) return value;
    probe.style.color = value;
    return getComputedStyle(probe).color;
  };
  const choose = ([names, light, night]) => resolved(read(names) ?? (dark ? night : light));
  const colours = Object.fromEntries(Object.entries(TOKENS).map(([key, token]) => [key, choose(token)]));
  const series = SERIES.map((pair, place) => [pair[0], choose([[`--wb-s${place + 1}`], ...pair])]);
  probe.remove();
  const lines = Object.entries(LINES).map(([key, width]) => [key, Number(read([`--wb-l-${key}`])) || width]);
  return {
    ...colours,
    dark,
    series: Object.fromEntries(series),
    lines: Object.fromEntries(lines),
    zoom: Number(read(["--wb-scale"])) || 1,
    type: read(["--wb-font", "--jp-ui-font-family"]) ?? "system-ui, sans-serif",
  };
}

// By the background colour.
function isDark(style) {
  const ground = TOKENS.paper[0].map((name) => style.getPropertyValue(name).trim()).find(Boolean);
  return ground ? inkOn(ground) === "#ffffff" : document.body.dataset.jpThemeLight === "false";
}

// A colour of a series as this page shows it.
export function onPage(colour, { series }) {
  return series[colour] ?? colour;
}

function ofHex(digits) {
  const each = digits.length < 6 ? [...digits].map((digit) => digit + digit) : digits.match(/../g);
  return each.map((part) => parseInt(part, 16));
}

// Black or white, whichever can be read on a colour.
export function inkOn(colour) {
  const parts = colour.startsWith("#") ? ofHex(colour.slice(1)) : (colour.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  const linear = parts.slice(0, 3).map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
}

export function onThemeChange(react) {
  const observer = new MutationObserver(react);
  for (const place of [document.body, document.documentElement]) observer.observe(place, { attributes: true, attributeFilter: SEEN });
  return () => observer.disconnect();
}
