import { line, roundUp } from "../ui/axes.js";
import { CurveLayer } from "./curvelayer.js";
import { drawFlag, firstAt } from "./finish.js";
import { crosses } from "./frame.js";
import { typeset } from "../ui/numbers.js";
import { drawLevelWords } from "./levelwords.js";
import { drawNames } from "./names.js";
import { Plot } from "./plot.js";

// The convergence plot: relative residuals of runs that may still be active, and the tolerance at which they are compared.

const NONE_YET = { first: [], open: false };
// The shortest picture, by what the axis counts, and that of an empty plot.
const LEAST = { count: 10, s: 1e-4, B: 1e3 };
const EMPTY = { count: 100, s: 1, B: 1e9 };
const ITERATIONS = { title: "iteration", kind: "count", whole: true, word: "iteration" };

export class ConvergencePlot extends Plot {
  constructor(hear) {
    super(hear);
    this.curves = new Map();
    [this.axis, this.setup, this.against] = ["iterations", false, ITERATIONS];
    this.x.is(ITERATIONS);
    this.y.is({ title: "‖r‖ / ‖b‖", log: true });
    // A tolerance that was moved on the page and goes before the kernel's, and whether it is being dragged.
    [this.moved, this.held] = [null, false];
    [this.marked, this.reported, this.winners] = [false, "", NONE_YET];
    // How many paints what came last is spread over, how many of them are left, and the timer of the next one.
    this.pace = { paints: 1, milliseconds: 0 };
    [this.left, this.next, this.words] = [0, 0, []];
  }

  get live() {
    return this.layers.some((curve) => curve.live);
  }

  // value: of the line as it was moved on the page, or null for the kernel's.
  tolerance({ value, held }) {
    [this.moved, this.held] = [value, held];
    this.schedule();
  }

  news({ content, fresh }) {
    if (content.reset) {
      this.curves.clear();
      this.drawnAs = "";
    }
    if (content.against.title !== this.against.title) this.turn(content);
    [this.axis, this.setup, this.marked] = [content.axis, content.setup, content.marked];
    let used = 0;
    const take = (count) => fresh.subarray(used, (used += count));
    for (const described of content.curves) {
      const curve = this.curves.get(described.key) ?? new CurveLayer();
      curve.samples.append(take(described.count), this.against.whole ? null : take(described.count));
      this.curves.set(described.key, Object.assign(curve, described, { name: described.label, setup: content.setup && content.axis === "seconds" }));
    }
    this.layers = [...this.curves.values()];
    [this.seq, this.pace] = [content.seq, content.pace];
    this.left = content.reset ? 1 : content.pace.paints;
    this.reveal();
  }

  turn({ against }) {
    this.against = against;
    this.x.is({ ...against, log: this.x.log });
    [this.shown.x, this.measured] = [null, null];
  }

  // Shows part of what has come while runs are active, and all of it once they are at rest.
  reveal() {
    clearTimeout(this.next);
    let waiting = false;
    for (const curve of this.layers) {
      const rest = curve.samples.count - curve.shown;
      curve.shown += curve.live && this.left > 1 ? Math.ceil(rest / this.left) : rest;
      waiting ||= curve.shown < curve.samples.count;
    }
    this.left -= 1;
    if (waiting) this.next = this.after(this.pace.milliseconds, () => this.reveal());
    this.schedule();
  }

  home() {
    return { x: this.across(), y: this.y.log ? exponents(this.visible, this.lines()) : this.upright() };
  }

  // While a run grows the axis has an end that lasts.
  across() {
    const ends = this.visible.map(({ samples }) => (samples.count && samples.at(samples.count - 1)) || 0);
    const least = (ends.some(Boolean) ? LEAST : EMPTY)[this.against.kind];
    const longest = Math.max(least, ...ends);
    const grows = this.visible.some((curve, place) => curve.live && ends[place] === longest);
    const scaled = this.against.whole ? 1 : 1000 / least;
    const extent = roundUp(longest * scaled, grows) / scaled;
    if (!this.x.log) return [0, extent];
    const firsts = this.visible.map(({ range }) => range?.first).filter((value) => value > 0 && Number.isFinite(value));
    return [Math.log10(Math.min(least, ...firsts)), Math.log10(extent)];
  }

  upright() {
    const most = Math.max(0, ...this.visible.map(({ samples }) => samples.most).filter(Number.isFinite));
    return [0, 1.05 * most || 1];
  }

  picture() {
    const fresh = this.layers.some((curve) => curve.drawn !== curve.shown);
    // An axis that moved under the pointer would run away from it.
    if (!(this.held && this.frame)) this.layOut();
    const lines = this.lines();
    this.winners = this.marked || this.moved !== null ? firstAt(this.visible, lines[0]) : NONE_YET;
    const { first, open } = this.winners;
    const { x, y } = this;
    const states = this.layers.map(({ key, live, rings, name }) => [key, live, rings.length, name]);
    const there = first.map(({ curve, position }) => [curve.key, position]);
    const as = JSON.stringify([x.low, x.high, y.low, y.high, this.frame.box, states, lines, there, open]);
    // What is read out lies over the curves.
    if (this.cursor || this.brushed || as !== this.drawnAs) {
      this.drawAnew();
      this.drawnAs = this.cursor ? "" : as;
    } else {
      this.within(() => this.visible.forEach((curve) => this.extend(curve)));
      this.drawFlag(lines);
      if (this.plan.words.size) this.names = drawNames(this, this.plan);
    }
    this.paints += fresh || !this.live;
  }

  // A curve that grows into the label of a tolerance makes it move.
  extend(curve) {
    const points = curve.draw(this);
    if (this.words.some((spot) => crosses(points, spot))) this.change();
    else curve.path = curve.path?.concat(points) ?? points;
  }

  drawUnder() {
    this.context.save();
    this.context.setLineDash([5, 4]);
    this.context.lineWidth = this.held ? 2 : 1;
    const { box, toY } = this.frame;
    for (const tolerance of this.lines()) line(this.context, this.palette.ink, box.left, Math.round(toY(tolerance)) + 0.5, box.right, Math.round(toY(tolerance)) + 0.5);
    this.context.restore();
  }

  drawOver() {
    const lines = this.lines();
    this.words = lines.map((value) => drawLevelWords(this, value, `tolerance ${typeset(value)}`)).filter(Boolean);
    this.drawFlag(lines);
    this.reportScale(lines);
  }

  // Where the tolerance lines stand, for the hands that move them.
  reportScale(lines) {
    const { box } = this.frame;
    const { low, high, log } = this.y;
    const described = { kind: "scale", lines, low, high, log, top: box.top, bottom: box.bottom, right: box.right };
    const text = JSON.stringify(described);
    if (text !== this.reported) this.hear(described);
    this.reported = text;
  }

  // The relative residuals at which a line is drawn, each once.
  lines() {
    if (this.moved !== null) return [this.moved];
    return [...new Set(this.layers.map(({ tolerance }) => tolerance))].filter((tolerance) => tolerance > 0);
  }

  drawFlag(lines) {
    this.within(() => drawFlag(this, this.winners, lines[0], this.visible.length === 1));
  }

  state() {
    const { axis, setup, layers } = this;
    const first = this.winners.first.map(({ curve, position }) => [curve.label, position]);
    const [tolerance] = this.lines();
    const found = { axis, setup, count: layers.at(-1)?.shown ?? 0, curves: layers.length, tolerance, first };
    return { ...super.state(), ...found, label: this.words.length ? Object.values(this.words[0]).map(Math.round).join() : "" };
  }
}

// Powers of ten that hold all curves and lines.
function exponents(curves, lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of [...curves.flatMap(({ samples }) => [samples.low, samples.high]), ...lines]) {
    if (!(value > 0) || value === Infinity) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high || (!curves.some(({ samples }) => samples.count) && lines.length < 2)) return [-6.5, 0.5];
  const bounds = [Math.floor(Math.log10(low) - 0.05), Math.ceil(Math.log10(high) + 0.05)];
  return bounds[0] === bounds[1] ? [bounds[0], bounds[0] + 1] : bounds;
}
