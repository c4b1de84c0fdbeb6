import { THIN, decimalText, typeset } from "./numbers.js";

// Times and amounts in the unit that fits; number_text.py writes them alike.

// Size, name, and the value from which a unit is used.
export const TIMES = [[1, "s", 0.1], [1e-3, "ms", 1e-3], [1e-6, "µs", 1e-6], [1e-9, "ns", 0]];
export const AMOUNTS = [[1e12, "TB", 1e12], [1e9, "GB", 1e9], [1e6, "MB", 1e6], [1e3, "kB", 1e3], [1, "B", 0]];

// 0.458 s, 15.9 ms, 2 min 5 s.
export function timeText(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 99.95) return inUnits(seconds, TIMES);
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const parts = [[hours, "h"], [minutes, "min"], [hours ? 0 : rest, "s"]];
  return parts.filter(([amount]) => amount).map(([amount, unit]) => `${amount}${THIN}${unit}`).join(" ");
}

// 268 MB.
export function amountText(bytes) {
  return inUnits(bytes, AMOUNTS);
}

// Bytes per second; empty where either is not known.
export function rateText(bytes, seconds) {
  return bytes > 0 && seconds > 0 ? `${amountText(bytes / seconds)}/s` : "";
}

function inUnits(value, units) {
  const [size, unit] = units.find(([, , least]) => Math.abs(value) >= 0.9995 * least);
  return `${value === 0 ? 0 : digitsOf(value / size)}${THIN}${value === 0 ? units.find(([each]) => each === 1)[1] : unit}`;
}

// Three digits, zeros among them.
function digitsOf(value) {
  const power = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  return power < 6 ? decimalText(Number(value.toPrecision(3)), Math.max(0, 2 - power)) : typeset(value);
}
