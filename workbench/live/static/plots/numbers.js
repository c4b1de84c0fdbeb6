import { grouped, linearTicks, powerOfTen } from "../ui/axes.js";
import { AMOUNTS, TIMES, amount, duration } from "../ui/units.js";

// Numbers as a plot writes them: three digits, powers of ten, thin spaces in groups of three, a true minus.

export function typeset(value) {
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const [sign, size] = [value < 0 ? "−" : "", Math.abs(value)];
  if (Number.isInteger(size) && size < 1e7) return sign + counted(size);
  if (size >= 1e-3 && size < 1e5) return sign + (size >= 100 ? counted(Math.round(size)) : String(Number(size.toPrecision(3))));
  const exponent = Math.floor(Math.log10(size * (1 + 1e-12)));
  const digits = Number((size / 10 ** exponent).toPrecision(3));
  if (digits === 10) return `${sign}${powerOfTen(exponent + 1)}`;
  return `${sign}${digits === 1 ? "" : `${digits}\u202f×\u202f`}${powerOfTen(exponent)}`;
}

// Digits are grouped from the fifth on.
function counted(whole) {
  return Math.abs(whole) < 1e4 ? String(whole) : grouped(whole);
}

// What an axis may count: how a value is said, and which unit suits an axis that ends there, as [unit, how many of it].
const PLAIN = { say: typeset, fit: () => ["", 1] };
const QUANTITIES = {
  "": PLAIN,
  count: { say: (value) => counted(Math.round(value)), fit: () => ["", 1] },
  s: { say: duration, fit: (end) => unitOf(TIMES, end) },
  B: { say: amount, fit: (end) => unitOf(AMOUNTS, end) },
};

export function quantity(unit) {
  return QUANTITIES[unit] ?? { say: (value) => `${typeset(value)}\u202f${unit}`, fit: () => [unit, 1] };
}

function unitOf(units, end) {
  const [unit, factor] = units.find(([, , bound]) => Math.abs(end) < bound) ?? units.at(-1);
  return [unit, factor];
}

// Decimals that tell neighbours of a list apart.
function decimals(values) {
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

function decimalText(value, digits) {
  const [integer, rest] = Math.abs(value).toFixed(digits).split(".");
  return `${value < 0 && Number(value.toFixed(digits)) ? "−" : ""}${counted(Number(integer))}${rest ? `.${rest}` : ""}`;
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
