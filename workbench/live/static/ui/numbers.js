// How numbers, times and amounts are written on the page; number_text.py writes them alike.
// Three significant digits, the unit that fits, thin spaces between groups of digits and before a unit, a true minus.

const THIN = "\u2009";
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
// Size, name, and the value from which a unit is used.
const TIME_UNITS = [[1, "s", 0.1], [1e-3, "ms", 1e-3], [1e-6, "µs", 1e-6], [1e-9, "ns", 0]];

function numberText(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const [mantissa, exponent] = Math.abs(value).toExponential(2).split("e");
  const power = Number(exponent);
  const sign = value < 0 ? "−" : "";
  if (power >= -3 && power < 6) return sign + inGroups(Number(`${mantissa}e${power}`).toFixed(Math.max(0, 2 - power)));
  return `${sign}${mantissa}${THIN}×${THIN}10${String(power).replace(/./g, (at) => RAISED[at])}`;
}

export function countText(value) {
  return (value < 0 ? "−" : "") + inGroups(String(Math.abs(value)));
}

export function timeText(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 99.95) return fitting(seconds);
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const parts = [[hours, "h"], [minutes, "min"], [hours ? 0 : rest, "s"]];
  return parts.filter(([amount]) => amount).map(([amount, unit]) => `${amount}${THIN}${unit}`).join(" ");
}

function fitting(seconds) {
  if (seconds === 0) return `0${THIN}s`;
  const [size, unit] = TIME_UNITS.find(([, , least]) => Math.abs(seconds) >= 0.9995 * least);
  return `${numberText(seconds / size)}${THIN}${unit}`;
}

function inGroups(text) {
  const [whole, rest] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
  return rest ? `${grouped}.${rest}` : grouped;
}
