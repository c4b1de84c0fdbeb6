import { grouped, linearTicks } from "./axes.js";

// Times, amounts and rates in words, and the ticks of axes of time and of bytes.

export const TIMES = [["ns", 1e9, 1e-6], ["µs", 1e6, 1e-3], ["ms", 1e3, 1], ["s", 1, Infinity]];
export const AMOUNTS = [["B", 1, 1e3], ["kB", 1e-3, 1e6], ["MB", 1e-6, 1e9], ["GB", 1e-9, 1e12], ["TB", 1e-12, Infinity]];

export function duration(seconds) {
  return inUnits(seconds, TIMES);
}

export function amount(bytes) {
  return inUnits(bytes, AMOUNTS);
}

// A moment, to the microsecond.
export function moment(seconds) {
  return `${written(1e3 * seconds, 3)}\u2009ms`;
}

// Bytes per second; empty where either is not known.
export function rate(bytes, seconds) {
  if (!(bytes > 0 && seconds > 0)) return "";
  return `${amount(bytes / seconds)}/s`;
}

function inUnits(value, units) {
  if (value === 0) return `0\u2009${units[0][0]}`;
  const [unit, factor] = units.find(([, , bound]) => Math.abs(value) < bound * 0.9995) ?? units.at(-1);
  const scaled = value * factor;
  return `${Math.abs(scaled) >= 999.5 ? Math.round(scaled) : scaled.toPrecision(3)}\u2009${unit}`;
}

// Ticks as [seconds, text], and the title of the axis. Where numbers would be long they count from a round time nearby.
export function timeAxis(from, to, most) {
  const width = to - from;
  const [unit, factor] = width < 1e-3 ? ["µs", 1e6] : width < 1 ? ["ms", 1e3] : ["s", 1];
  const coarse = 10 ** Math.ceil(Math.log10(width));
  const base = from > 200 * width ? Math.floor(from / coarse) * coarse : 0;
  const values = linearTicks((from - base) * factor, (to - base) * factor, most);
  const decimals = values.length > 1 ? Math.max(0, -Math.floor(Math.log10(values[1] - values[0]) + 1e-9)) : 0;
  const ticks = values.map((value) => [base + value / factor, written(value, decimals)]);
  if (!base) return { ticks, title: `time from the start of the run, ${unit}` };
  const digits = Math.max(0, -Math.round(Math.log10(coarse * 1e3)));
  return { ticks, title: `time after ${written(base * 1e3, digits)} ms, ${unit}` };
}

function written(value, decimals) {
  const [whole, rest] = Math.abs(value).toFixed(decimals).split(".");
  return `${value < 0 && Number(value.toFixed(decimals)) ? "−" : ""}${grouped(whole)}${rest ? `.${rest}` : ""}`;
}
