import { typeset } from "../ui/numbers.js";
import { decadesBetween, evenTicks, quantity } from "./ticks.js";

// One axis of a plot: values become shares of it, from 0 to 1, and are said in words.

export class Scale {
  constructor() {
    this.is({});
    this.span(0, 1);
  }

  // log: by its logarithm. whole: only integers lie on it. names: what the integers from 0 on are called. kind: of number,
  // as in ticks.js. word: what a value is called where it is read out, as in "iteration 7". marks: values that have the ticks.
  is({ title = "", kind = "", log = false, whole = false, names = null, word = "", marks = null }) {
    Object.assign(this, { title, kind, log, whole: whole || names !== null, names, word, marks });
    this.quantity = quantity(kind);
  }

  // What is shown, as coordinates: values, or their logarithms.
  span(low, high) {
    [this.low, this.high] = [low, high];
  }

  inner(value) {
    return this.log ? Math.log10(value) : value;
  }

  outer(coordinate) {
    return this.log ? 10 ** coordinate : coordinate;
  }

  share(value) {
    return (this.inner(value) - this.low) / (this.high - this.low);
  }

  at(share) {
    return this.outer(this.low + share * (this.high - this.low));
  }

  // [value, text] of at most so many ticks.
  ticks(most) {
    if (this.names) return this.namedTicks(most);
    if (this.marks) return this.markedTicks();
    const options = { whole: this.whole, factor: this.unit[1] };
    return (this.log ? decadesBetween : evenTicks)(this.low, this.high, most, options);
  }

  markedTicks() {
    const [unit, factor] = this.unit;
    const shown = this.marks.filter((value) => this.inner(value) >= this.low && this.inner(value) <= this.high);
    return shown.map((value) => [value, unit ? typeset(Number((value * factor).toPrecision(4))) : typeset(value)]);
  }

  namedTicks(most) {
    const [first, last] = [Math.max(0, Math.ceil(this.low)), Math.min(this.names.length - 1, Math.floor(this.high))];
    const every = Math.max(1, Math.ceil((last - first + 1) / most));
    const found = [];
    for (let k = first; k <= last; k += every) found.push([k, this.names[k]]);
    return found;
  }

  get unit() {
    return this.quantity.fit(Math.max(Math.abs(this.outer(this.low)), Math.abs(this.outer(this.high))));
  }

  get heading() {
    const [unit] = this.unit;
    return unit ? `${this.title} (${unit})` : this.title;
  }

  say(value) {
    if (this.names) return `${this.word || this.title} ${this.names[Math.round(value)] ?? ""}`.trim();
    const said = this.quantity.say(this.whole ? Math.round(value) : value);
    return this.word ? `${this.word} ${said}` : said;
  }

  // The nearest value that may be pointed at.
  nearest(value) {
    return this.whole ? Math.round(value) : value;
  }
}
