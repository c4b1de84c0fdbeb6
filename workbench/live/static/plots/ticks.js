import { linearTicks } from "../ui/axes.js";
import { THIN, countText, decimalText, powerOfTen, typeset } from "../ui/numbers.js";
import { AMOUNTS, TIMES, amountText, timeText } from "../ui/units.js";

// What the axes of a plot count, their ticks, and what is written at them.

// What an axis may count: how a value is said, and which unit suits an axis that ends there, as [unit, how many of it].
const QUANTITIES = {
  "": { say: typeset, fit: () => ["", 1] },
  count: { say: (value) => countText(Math.round(value)), fit: () => ["", 1] },
  s: { say: timeText, fit: (end) => unitOf(TIMES, end) },
  B: { say: amountText, fit: (end) => unitOf(AMOUNTS, end) },
};

export function quantity(unit) {
  return QUANTITIES[unit] ?? { say: (value) => `${typeset(value)}${THIN}${unit}`, fit: () => [unit, 1] };
}

function unitOf(units, end) {
  const [size, unit] = units.find(([, , least]) => Math.abs(end) >= least);
  return [unit, 1 / size];
}

// Decimals that tell neighbours of a list apart.
export function decimals(values) {
  return values.length > 1 ? Math.max(0, -Math.floor(Math.log10(values[1] - values[0]) + 1e-9)) : 0;
}

// Ticks as [value, text] between two values of a linear axis; factor: of the unit that they are written in.
export function evenTicks(low, high, most, { whole, factor }) {
  let values = linearTicks(low * factor, high * factor, Math.max(1, most));
  if (whole) values = values.every(Number.isInteger) ? values : wholes(low, high);
  const digits = decimals(values);
  const large = Math.max(Math.abs(low), Math.abs(high)) * factor;
  const say = (value) => (large >= 1e5 && !whole ? typeset(Number(value.toPrecision(6))) : decimalText(value, digits));
  return values.map((value) => [value / factor, say(value)]);
}

function wholes(low, high) {
  const found = [];
  for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k += 1) found.push(k);
  return found;
}

// The same for a logarithmic axis between two exponents: powers of ten, with 2 and 5 within two decades only.
export function decadesBetween(low, high, most, { whole, factor }) {
  const shift = Math.log10(factor);
  const [from, to] = [low + shift, high + shift];
  const places = [];
  const span = to - from;
  const step = Math.max(1, Math.ceil(Math.floor(to - from + 1) / Math.max(1, most)));
  for (let power = Math.ceil(from / step - 1e-9) * step; power <= to + 1e-9; power += step) places.push(10 ** power);
  if (span < 2) {
    for (let power = Math.floor(from) - 1; power <= to; power += 1) places.push(2 * 10 ** power, 5 * 10 ** power);
  }
  const found = places.filter((value) => inside(Math.log10(value), from, to) && !(whole && value < 1));
  // Within a decade too few of them are left to tell by.
  if (span < 1 && found.length < 3) return evenTicks(10 ** low, 10 ** high, most, { whole, factor });
  const say = span < 2 ? plain : power;
  return [...new Set(found)].sort((a, b) => a - b).map((value) => [value / factor, say(value)]);
}

function inside(value, low, high) {
  return value >= low - 1e-9 && value <= high + 1e-9;
}

function plain(value) {
  return typeset(Number(value.toPrecision(3)));
}

function power(value) {
  return powerOfTen(Math.round(Math.log10(value)));
}
