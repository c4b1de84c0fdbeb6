import { label, line } from "../ui/axes.js";
import { FLOW_BYTES, Flows } from "./flows.js";
import { Lane, firstAbove } from "./lane.js";
import { paintLane } from "./lanepaint.js";
import { Marks } from "./marks.js";
import { Overview, ROOM } from "./overview.js";
import { Span } from "./span.js";
import { Stage } from "../transport/stage.js";
import { nothing, sumUp, sums } from "./sums.js";
import { inkOn } from "../ui/theme.js";
import { HEAD, drawAxis, drawHeads, drawMarks, laneFont } from "./timelineaxes.js";

// The timeline as events in, boxes out: a strip of the whole run, and a band per lane over time. Pixels of the frame are
// those of a page whose letters have their usual size; on a projector all of them are larger, by the palette's `zoom`.

const MARGIN = { top: ROOM + 22, right: 16, bottom: 44 };
const BAND = { least: 30, most: 84, apart: 8 };
// Start, length, kernel and iteration.
export const EVENT_BYTES = 8 + 4 + 4 + 4;
// A pointer need not hit what is thinner than itself.
const NEAR = 3;
// Pixels below which a selection is a click.
const CLICK = 3;

// As high as so many lanes need, and no higher than asked for, unless lanes would lie over one another; several sets of
// lanes may be half as high again.
export function heightOf(lanes, most, groups = 0) {
  const above = (groups ? ROOM + groups * HEAD.height : MARGIN.top) + MARGIN.bottom;
  const wanted = above + Math.max(1, lanes) * (BAND.most + BAND.apart);
  const least = above + lanes * (BAND.least + BAND.apart);
  return Math.max(least, Math.min(groups ? 1.5 * most : most, wanted));
}

export class TimelinePlot extends Stage {
  // hear(report) receives what is painted, at most once a second while a run is active, and what is pointed at.
  constructor(hear) {
    super(hear);
    this.run = 0;
    this.begin(false);
  }

  begin(live) {
    [this.lanes, this.kernels] = [[], []];
    // Sets of lanes, what is said of each where there are several, and the one whose sums are shown.
    [this.sets, this.groups, this.summed] = [[newSet()], [], 0];
    this.span = new Span(live);
    [this.count, this.first, this.last, this.now] = [0, Infinity, 0, 0];
    [this.live, this.over, this.left, this.next] = [live, !live, 0, 0];
    [this.cursor, this.reading] = [null, false];
    this.drawn = { boxes: 0, merged: 0, milliseconds: 0 };
    this.fills = null;
    [this.flows, this.overview] = [new Flows(), new Overview()];
    // From when to when sums are shown; what another view points at; and what is dragged.
    [this.selected, this.linked, this.held] = [null, null, null];
    this.stretchOf = (iteration) => this.stretch(iteration);
  }

  outdated() {
    this.fills = null;
  }

  news({ content, bytes }) {
    clearTimeout(this.next);
    if (content.reset) {
      const before = content.run === this.run ? this.span : null;
      this.begin(content.live);
      // A reload of the page's own making leaves the user where he was.
      if (before?.mode === "free") this.span = before;
      this.run = content.run;
    }
    this.groups = content.groups;
    while (this.sets.length < this.groups.length) this.sets.push(newSet());
    if (content.kernels.length) this.meet(content.kernels);
    this.append(bytes, content.count);
    this.flows.append(new Float64Array(bytes.slice(EVENT_BYTES * content.count, EVENT_BYTES * content.count + FLOW_BYTES * content.flows)));
    [this.seq, this.live, this.over, this.pace] = [content.seq, content.live, content.over, content.pace];
    if (this.over && this.span.mode === "follow") this.span.all();
    this.left = this.live && !content.reset ? content.pace.paints : 1;
    this.reveal();
  }

  // The set of lanes that is followed: the first of those that grow.
  get front() {
    return this.sets.find(({ marks }, group) => marks.count > 0 && this.groups[group]?.live) ?? this.sets.find(({ marks }) => marks.count > 0) ?? this.sets[0];
  }

  // Advances time evenly between messages.
  reveal() {
    const { last } = this.front;
    const before = Math.min(last, Math.max(this.now, this.count ? this.first : 0));
    this.now = this.left > 1 ? before + (last - before) / this.left : last;
    this.left -= 1;
    if (this.left > 0) this.next = this.after(this.pace.milliseconds, () => this.reveal());
    // Where the user looks at what is over, there is nothing new to see, unless another run gets there later.
    if (this.live && !this.groups.length && this.span.mode === "free" && before > this.span.to) this.report.call();
    else this.schedule();
  }

  meet(kernels) {
    this.kernels.push(...kernels);
    this.fills = null;
    const laneOf = (kernel) => this.lanes.find(({ name, group }) => name === kernel.lane && group === kernel.group);
    for (const kernel of kernels) if (!laneOf(kernel)) this.lanes.push(new Lane(kernel.lane, kernel.lane_order, kernel.group));
    this.lanes.sort((one, other) => one.group - other.group || one.order - other.order);
    this.laneOf = this.kernels.map(laneOf);
  }

  append(bytes, count) {
    const starts = new Float64Array(bytes, 0, count);
    const lengths = new Float32Array(bytes, 8 * count, count);
    const kernels = new Int32Array(bytes, 12 * count, count);
    const iterations = new Int32Array(bytes, 16 * count, count);
    for (let k = 0; k < count; k += 1) {
      const [start, kernel] = [starts[k], this.kernels[kernels[k]]];
      const end = start + lengths[k];
      this.laneOf[kernels[k]].add(start, end, kernels[k], iterations[k]);
      const set = this.sets[kernel.group];
      set.marks.note(iterations[k], start);
      [set.first, set.last] = [Math.min(set.first, start), Math.max(set.last, end)];
      [this.first, this.last] = [Math.min(this.first, start), Math.max(this.last, end)];
      sumUp((set.totals[kernel.style] ??= nothing()), lengths[k], kernel.bytes);
    }
    this.count += count;
  }

  // What the user does: x and pixels are those of the canvas.
  zoom({ x, factor }) {
    this.span.zoom(x === undefined ? 0.5 : (x - this.box.left) / this.box.width, factor);
    this.schedule();
  }

  pan({ pixels, share }) {
    this.span.pan((pixels === undefined ? share : pixels / this.box.width) * this.span.width);
    this.schedule();
  }

  all() {
    this.span.all();
    this.schedule();
  }

  follow({ on }) {
    if (on) this.span.follow();
    else this.span.pan(0);
    this.schedule();
  }

  // cursor: {x, y} in pixels, or null to take it away.
  point({ cursor }) {
    this.cursor = cursor;
    this.schedule();
  }

  // What another view points at: {iteration, kernel}, or null.
  link({ linked }) {
    this.linked = linked;
    this.schedule();
  }

  // stretch: two times, or null.
  select({ stretch }) {
    this.selected = stretch;
    this.schedule();
  }

  // A pointer that is held moves the strip's window or the picture, or selects.
  grab({ x, y, selects }) {
    if (!this.count) return;
    const how = this.overview.holds(y) ? "strip" : selects ? "select" : "pan";
    this.held = { how, x, begin: x };
    this.cursor = null;
    if (how === "strip") this.drag({ x });
  }

  drag({ x }) {
    if (!this.held || !this.box) return;
    const { span, box, held } = this;
    if (held.how === "pan") span.pan(((held.x - x) / box.width) * span.width);
    else if (held.how === "select") this.selected = [held.begin, x].map((pixel) => this.toTime(pixel)).sort((a, b) => a - b);
    else if (span.mode !== "all") span.place(span.first + ((x - box.left) / box.width) * (span.last - span.first) - span.width / 2, span.width);
    held.x = x;
    this.schedule();
  }

  drop() {
    if (this.held?.how === "select" && Math.abs(this.held.x - this.held.begin) < CLICK) this.selected = null;
    this.held = null;
    this.schedule();
  }

  toTime(x) {
    const { box, span } = this;
    return span.from + ((Math.max(box.left, Math.min(box.right, x)) - box.left) / box.width) * span.width;
  }

  // From when to when an iteration of the first run lasts; null for one that it does not have.
  stretch(iteration) {
    const { marks, last } = this.sets[0];
    const place = iteration === null ? marks.count : firstAbove(marks.numbers, marks.count, iteration, true);
    if (place >= marks.count || marks.numbers[place] !== iteration) return null;
    return [marks.starts[place], place + 1 < marks.count ? marks.starts[place + 1] : last];
  }

  // From the event that is read out, or the first one in sight, to another one of its lane, or to another lane.
  step({ by, lanes }) {
    if (!this.count) return;
    const from = this.cursor?.lane === undefined ? this.pointed() : this.cursor;
    const lane = Math.max(0, Math.min(this.lanes.length - 1, (from?.lane ?? 0) + lanes));
    const events = this.lanes[lane];
    let place = (from?.place ?? events.between(this.span.from, this.span.to)[0] - by) + by;
    if (lanes && from) place = events.between(this.lanes[from.lane].start[from.place], Infinity)[0];
    place = Math.max(0, Math.min(events.count - 1, place));
    this.cursor = { lane, place };
    const [start, end] = [events.start[place], events.end[place]];
    if (start < this.span.from || end > this.span.to) this.span.place(start - this.span.width / 2, this.span.width);
    this.schedule();
  }

  state() {
    const { seq, paints, count, live, selected } = this;
    const totals = selected ? sums(this, selected) : this.sets[this.summed].totals;
    const { mode, from, to } = this.span;
    const { marks } = this.sets[0];
    const iterations = marks.count ? marks.numbers[marks.count - 1] : 0;
    const lanes = this.lanes.map((lane) => this.nameOf(lane));
    return { kind: "painted", seq, paints, count, lanes, iterations, live, totals, selected, mode, from, to, flows: this.flows.count, summed: this.summed, ends: this.sets.map((set) => set.last), ...this.drawn };
  }

  // A lane's name, and of which set it is where there are two.
  nameOf({ name, group }) {
    return this.groups.length ? `${name} (${this.groups[group].name})` : name;
  }

  draw() {
    // Behind another tab there is nothing to paint on; what is not painted is not acknowledged.
    if (!(this.width > 0)) return;
    const begun = performance.now();
    this.wipe();
    // A canvas that has changed its size has forgotten its font.
    laneFont(this);
    if (this.count) this.picture();
    this.drawn.milliseconds = performance.now() - begun;
    this.paints += 1;
    this.report.call();
    if (!this.live) this.report.now();
  }

  picture() {
    this.fills ??= this.fillsOf();
    const { front } = this;
    // Another set may be further than the one that is followed.
    const last = Math.max(this.now, ...this.sets.filter((set) => set !== front && set.marks.count).map((set) => set.last));
    this.span.advance(this.first, last, this.now, front.marks, !this.over);
    this.box = this.boxOf();
    this.overview.draw(this);
    drawAxis(this);
    this.drawn = { boxes: 0, merged: 0, milliseconds: 0 };
    this.words = this.lanes.flatMap((lane, row) => this.drawLane(lane, this.band(row)));
    this.sets.forEach((set, group) => this.isInSight(set) && drawMarks(this, set, this.stripe(group)));
    drawHeads(this);
    this.shade(this.selected, 0.16, this.box);
    this.shade(this.linked && this.stretch(this.linked.iteration), 0.2, this.stripe(0));
    this.readOut();
  }

  fillsOf() {
    const fills = [];
    for (const { style, colour, idle } of this.kernels) {
      // Waiting is near the ground of either theme.
      const fill = idle ? this.palette.rule : colour;
      fills[style] ??= { fill, ink: inkOn(fill) };
    }
    return fills;
  }

  // What lies between two times, from top to bottom.
  shade(stretch, alpha, { top, bottom }) {
    if (!stretch || stretch[1] < this.span.from || stretch[0] > this.span.to) return;
    const { context, palette, box } = this;
    const [left, right] = stretch.map((seconds) => Math.max(box.left, Math.min(box.right, this.toX(seconds))));
    context.globalAlpha = alpha;
    context.fillStyle = palette.accent;
    context.fillRect(left, top, Math.max(1, right - left), bottom - top);
    context.globalAlpha = 1;
    for (const x of [left, right]) line(context, palette.accent, x, top, x, bottom);
  }

  // The row of the lane that a kernel runs on.
  rowOf(kernel) {
    return this.lanes.indexOf(this.laneOf[kernel]);
  }

  // The style of the kernel that another view points at; -1 for none.
  get lit() {
    const code = this.linked?.kernel;
    return code ? (this.kernels.find((kernel) => kernel.code === code)?.style ?? -1) : -1;
  }

  boxOf() {
    const words = ["100\u202f% busy", "whole run", ...this.lanes.map(({ name }) => name)];
    const widest = Math.max(...words.map((text) => this.context.measureText(text).width));
    const { zoom } = this.palette;
    const [left, right] = [Math.ceil(widest) + 14 * zoom, this.width - MARGIN.right];
    const top = zoom * (this.groups.length ? ROOM + HEAD.height : MARGIN.top);
    return { left, right, width: right - left, top, bottom: this.height - zoom * MARGIN.bottom };
  }

  // From the top of a lane to that of the next; above each set of lanes but the first is room for its head.
  get apart() {
    const { top, bottom } = this.box;
    return (bottom - top - Math.max(0, this.groups.length - 1) * HEAD.height * this.palette.zoom) / this.lanes.length;
  }

  // Where a lane lies.
  band(row) {
    const { left, width, top } = this.box;
    const { zoom } = this.palette;
    const height = Math.min(zoom * BAND.most, Math.max(zoom * BAND.least, this.apart - zoom * BAND.apart));
    const head = this.lanes[row].group * HEAD.height * zoom;
    return { left, width, top: top + head + row * this.apart + (this.apart - height) / 2, height, zoom };
  }

  // From top to bottom of a set of lanes; without any, where they would begin.
  stripe(group) {
    if (!this.groups.length) return this.box;
    const rows = this.lanes.flatMap((lane, row) => (lane.group === group ? [this.band(row)] : []));
    if (rows.length) return { top: rows[0].top - 3, bottom: rows.at(-1).top + rows.at(-1).height };
    const begin = this.box.top + group * HEAD.height * this.palette.zoom + this.lanes.filter((lane) => lane.group < group).length * this.apart;
    return { top: begin, bottom: begin };
  }

  toX(seconds) {
    return this.box.left + ((seconds - this.span.from) / this.span.width) * this.box.width;
  }

  drawLane(lane, band) {
    const { context, palette, span } = this;
    const middle = band.top + band.height / 2;
    const { busy, boxes, merged, words } = paintLane(context, lane, this.kernels, this.fills, span, band, this.lit);
    const { first, last } = this.sets[lane.group];
    const known = Math.min(span.to, last) - Math.max(span.from, first);
    label(context, palette.ink, lane.name, band.left - 10, middle - 8 * band.zoom, "right", "middle");
    const share = known > 0 ? `${Math.round(100 * Math.min(1, busy / known))}\u202f% busy` : "";
    label(context, palette.soft, share, band.left - 10, middle + 9 * band.zoom, "right", "middle");
    line(context, palette.soft, band.left, band.top + band.height + 0.5, band.left + band.width, band.top + band.height + 0.5);
    this.drawn.boxes += boxes;
    this.drawn.merged += merged;
    return words;
  }

  isInSight({ marks, last }) {
    return marks.count > 0 && this.span.from < last;
  }

  // The event that the pointer is at.
  pointed() {
    const { cursor, box } = this;
    if (!cursor || cursor.x === undefined) return cursor;
    const row = this.lanes.findIndex((_lane, k) => {
      const { top, height } = this.band(k);
      return cursor.y >= top - 2 && cursor.y <= top + height + 2;
    });
    if (row < 0 || cursor.x < box.left || cursor.x > box.right) return null;
    const time = this.toTime(cursor.x);
    const pixel = this.span.width / box.width;
    const found = this.lanes[row].near(time, pixel / 2) ?? this.lanes[row].near(time, NEAR * pixel);
    return found && { lane: row, ...found };
  }

  readOut() {
    const at = this.pointed();
    const iteration = this.pointedIteration(at);
    if (!at) {
      this.flows.draw(this, null);
      if (this.reading || iteration !== null) this.hear({ kind: "readout", event: null, iteration });
      this.reading = iteration !== null;
      return;
    }
    this.reading = true;
    const lane = this.lanes[at.lane];
    if (this.summed !== lane.group) {
      this.summed = lane.group;
      this.report.call();
    }
    const [start, end] = [lane.start[at.place], lane.end[at.place]];
    const { top, height } = this.band(at.lane);
    const left = Math.max(this.box.left, this.toX(start));
    const right = Math.max(left + 2, Math.min(this.box.right, this.toX(end)));
    this.context.strokeStyle = this.palette.ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(left - 1, top - 1, right - left + 2, height + 2);
    const kernel = lane.kernel[at.place];
    this.flows.draw(this, { kernel, start, end });
    const { name, code, bytes, flops } = this.kernels[kernel];
    const waits = this.flows.into(kernel, start).map((k) => this.kernels[this.flows.cause[k]]).map((one) => `${one.name} on ${one.lane}`);
    const event = { name, code, bytes, flops, waits: [...new Set(waits)], lane: this.nameOf(lane), start, seconds: end - start, iteration: lane.iteration[at.place] };
    const x = this.cursor.x ?? (left + right) / 2;
    this.hear({ kind: "readout", event, iteration, others: at.others ?? 0, x, y: top + height, strange: this.isStrange(lane.group) });
  }

  // What time counts from.
  get origin() {
    return this.groups.some(({ kind }) => kind === "other") ? "the first kernel of each run" : "the start of the run";
  }

  // Whether a set of lanes is of another run than the first, which the other views are of.
  isStrange(group) {
    return this.groups[group]?.kind === "other";
  }

  // The iteration of the event that the pointer is at, or that is under way there; null where there is none.
  pointedIteration(at) {
    if (at) return this.lanes[at.lane].iteration[at.place];
    if (this.groups.length && this.cursor && this.cursor.y > this.stripe(0).bottom) return null;
    const { cursor, box } = this;
    const { marks } = this.sets[0];
    if (cursor?.x === undefined || cursor.x < box.left || cursor.x > box.right || cursor.y < box.top) return null;
    const place = marks.at(this.toTime(cursor.x));
    return place < 0 ? null : marks.numbers[place];
  }
}

// What belongs to one set of lanes: where its iterations begin, from when to when it lasts, and by style what it sums to.
function newSet() {
  return { marks: new Marks(), first: Infinity, last: 0, totals: [] };
}
