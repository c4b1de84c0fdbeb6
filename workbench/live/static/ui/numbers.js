// How numbers, times and amounts are written on the page; number_text.py writes them alike.
// Three significant digits, thin spaces, at which no line ends, between groups of digits, a true minus.

export const THIN = "\u202f";
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// 1, 10, 10², 10⁻¹.
export function powerOfTen(exponent) {
  if (exponent === 0 || exponent === 1) return String(10 ** exponent);
  return `10${String(exponent).replace(/./g, (sign) => RAISED[sign])}`;
}

// A number in digits, which are grouped from the fifth on.
export function countText(value) {
  const [whole, rest] = String(Math.abs(value)).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return `${value < 0 ? "−" : ""}${grouped}${rest ? `.${rest}` : ""}`;
}

// A count with its noun, whose plural ends in s.
export function counted(value, noun) {
  return `${countText(value)} ${noun}${value === 1 ? "" : "s"}`;
}

// So many decimals.
export function decimalText(value, digits) {
  const [integer, rest] = Math.abs(value).toFixed(digits).split(".");
  return `${value < 0 && Number(value.toFixed(digits)) ? "−" : ""}${countText(Number(integer))}${rest ? `.${rest}` : ""}`;
}

// As in a text: 0.25, 20 000, 1.2 × 10⁻⁶; at most so many digits.
export function typeset(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const [sign, size] = [value < 0 ? "−" : "", Math.abs(value)];
  if (Number.isInteger(size) && size < 1e7) return sign + countText(size);
  if (size >= 1e-3 && size < 1e5) return sign + (size >= 10 ** (digits - 1) ? countText(Math.round(size)) : String(Number(size.toPrecision(digits))));
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  const factor = Number(mantissa) === 1 ? "" : `${Number(mantissa)}${THIN}×${THIN}`;
  return `${sign}${factor}${powerOfTen(Number(exponent))}`;
}
