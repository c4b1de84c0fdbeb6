import { drawAxes, label, linearTicks } from "../ui/axes.js";
import { countText } from "../ui/numbers.js";
import { drawBand } from "./band.js";
import { mapOf, wordsOf } from "./colormaps.js";
import { barRoom, drawBar, shadeTicks, titleOf } from "./colorscale.js";
import { Stage } from "../transport/stage.js";

// The field picture as numbers in, pixels out: one byte per cell through a colour table, a colour bar in numbers,
// subdomain boundaries on top.

const MARGIN = { left: 12, top: 24, bottom: 42 };
const [EMPTY, TYPE] = [24, 12];

export class FieldPlot extends Stage {
  // hear(report) receives what is painted, of an active run at most once a second, and how high the canvas is to be.
  constructor(hear) {
    super(hear);
    this.picture = null;
    // Pictures to be shown on the way to the last one, the milliseconds that each is seen, and the timer of the next.
    [this.waiting, this.each, this.next] = [[], 0, 0];
    [this.frames, this.tall, this.above] = [0, 0, MARGIN.top];
    this.cells = null;
  }

  // The height that is reported is the most that the picture may have.
  size({ width, height, scale }) {
    this.most = height;
    super.size({ width, height: this.tall, scale });
  }

  // content: the last picture, with those `before` it and the milliseconds that all of them take; bytes: of each in turn.
  news({ content, bytes }) {
    clearTimeout(this.next);
    let used = 0;
    const own = (length) => bytes.subarray(used, (used += length));
    const before = content.before.map((described) => ({ ...described, pixels: own(described.bytes) }));
    this.waiting = [...before, { ...content, pixels: own(bytes.length - used) }];
    this.each = content.milliseconds / this.waiting.length;
    this.frames += this.waiting.length;
    this.seq = content.seq;
    this.turnOver();
  }

  turnOver() {
    this.picture = this.waiting.shift();
    if (this.waiting.length) this.next = this.after(this.each, () => this.turnOver());
    this.schedule();
  }

  state() {
    const { seq, paints, frames, picture } = this;
    const { pixels, ...described } = picture ?? {};
    return { kind: "painted", seq, paints, frames, picture: described };
  }

  draw() {
    const { picture, width } = this;
    if (width > 0 && picture) {
      this.paint();
      this.paints += 1;
    }
    const quantity = picture?.quantity;
    if (picture?.live && quantity === this.reported) this.report.call();
    else this.report.now();
    this.reported = quantity;
  }

  // Cells are put in the place of cells as long as all around them stays what it is.
  paint() {
    const { picture, context, palette } = this;
    const as = picture.width && !picture.band ? around(picture) : "";
    const redrawn = !as || as !== this.drawnAs;
    if (redrawn) {
      this.measure();
      this.wipe();
      context.font = `${TYPE * palette.zoom}px ${palette.type}`;
    }
    this.drawnAs = as;
    if (picture.band) this.paintBand();
    else if (picture.width) this.paintPlane(redrawn);
  }

  paintPlane(redrawn) {
    const { context, palette } = this;
    const [side, ends] = [MARGIN.left + this.numbers, this.above + MARGIN.bottom * palette.zoom];
    const { aspect = 1 } = this.picture;
    const size = Math.max(10, Math.min(this.width - side - this.bar, (this.height - ends) / aspect));
    const box = { left: side, top: this.above, right: side + size, bottom: this.above + aspect * size };
    this.paintCells(box);
    if (redrawn) this.paintAround(box);
    else {
      context.strokeStyle = palette.soft;
      context.lineWidth = 1;
      context.strokeRect(box.left, box.top, size, aspect * size);
    }
  }

  // As high as wide, but no higher than asked for.
  measure() {
    const { picture, context, palette, width } = this;
    let tall = EMPTY;
    if (picture.width) {
      context.font = `${TYPE * palette.zoom}px ${palette.type}`;
      const labels = picture.band ? shadeTicks(picture).map(([, text]) => text) : [`0${tick(picture.y.high)}`];
      // Pixels that the numbers on the left and the colour bar on the right take.
      this.numbers = Math.max(...labels.map((text) => context.measureText(text).width));
      this.bar = picture.band || picture.kinds.length ? 16 : barRoom(context, picture);
      // The title of the bar has a line of its own where it would run into that of the axis.
      const [named, titled] = (picture.band ? [] : [picture.y.label, titleOf(picture)]).map((text) => context.measureText(text).width);
      const least = Math.min(this.most - (MARGIN.top + MARGIN.bottom) * palette.zoom, width - MARGIN.left - this.numbers - this.bar);
      const onOneLine = picture.band || named + titled + 16 <= least + this.bar + MARGIN.left;
      this.above = MARGIN.top * palette.zoom + (onOneLine ? 0 : 15 * palette.zoom);
      const room = Math.max(60, width - MARGIN.left - this.numbers - this.bar) * (picture.aspect ?? 1);
      tall = Math.round(Math.min(this.most, room + this.above + MARGIN.bottom * palette.zoom));
    }
    if (tall === this.tall) return;
    this.tall = this.height = tall;
    this.hear({ kind: "height", tall });
  }

  paintBand() {
    const left = MARGIN.left + this.numbers;
    const box = { left, top: this.above, right: this.width - this.bar, bottom: this.height - MARGIN.bottom * this.palette.zoom };
    const { pixels } = this.picture;
    const shares = new Float32Array(pixels.slice().buffer);
    drawBand(this.context, box, this.palette, this.picture, shares);
  }

  paintCells(box) {
    const { context, picture, scale } = this;
    const [size, tall] = [box.right - box.left, box.bottom - box.top];
    if (picture.sparse) {
      context.fillStyle = "#ffffff";
      context.fillRect(box.left, box.top, size, tall);
    }
    // Cells stay sharp when enlarged; none is lost when the picture has more of them than the page has pixels.
    context.imageSmoothingEnabled = picture.width > size * scale;
    context.imageSmoothingQuality = picture.live ? "low" : "high";
    const { kinds = [] } = picture;
    this.cells = coloured(this.cells, picture, kinds.length ? wordsOfKinds(kinds) : wordsOf(mapOf(picture, this.palette)));
    context.drawImage(this.cells.canvas, box.left, box.top, size, tall);
    const { pixels, segments } = picture;
    if (segments) this.drawBoundaries(box, new Float32Array(pixels.slice(pixels.length - 16 * segments).buffer));
  }

  paintAround(box) {
    const { context, palette, picture } = this;
    const { x, y, down } = picture;
    const [size, tall] = [box.right - box.left, box.bottom - box.top];
    const toX = (value) => box.left + ((value - x.low) / (x.high - x.low)) * size;
    const toY = (value) => {
      const share = (value - y.low) / (y.high - y.low);
      return down ? box.top + share * tall : box.bottom - share * tall;
    };
    const most = (length) => Math.max(2, Math.floor(length / 55));
    drawAxes(context, box, palette, {
      xTicks: linearTicks(x.low, x.high, most(size)).map((value) => [toX(value), tick(value)]),
      yTicks: linearTicks(y.low, y.high, most(tall)).map((value) => [toY(value), tick(value)]),
      xTitle: x.label,
      yTitle: y.label,
      grid: false,
    });
    const own = this.above > MARGIN.top * palette.zoom;
    if (picture.kinds.length) {
      // Kinds have no scale; its title says what they are.
      label(context, palette.soft, picture.bar, box.right, box.top - (own ? 7 + 15 * palette.zoom : 7), "right", "bottom");
    } else drawBar(context, box, palette, picture, [box.right + this.bar, box.top - (own ? 7 + 15 * palette.zoom : 7)]);
  }

  // A dark line under a light one can be seen on every colour.
  drawBoundaries(box, segments) {
    const { context } = this;
    const [size, tall] = [box.right - box.left, box.bottom - box.top];
    for (const [colour, breadth] of [["rgba(0, 0, 0, 0.55)", 2.2], ["#ffffff", 1]]) {
      context.strokeStyle = colour;
      context.lineWidth = breadth;
      context.beginPath();
      for (let k = 0; k < segments.length; k += 4) {
        context.moveTo(box.left + segments[k] * size, box.bottom - segments[k + 1] * tall);
        context.lineTo(box.left + segments[k + 2] * size, box.bottom - segments[k + 3] * tall);
      }
      context.stroke();
    }
  }
}

// All that the picture depends on in addition to its cells and the room for it.
function around({ x, y, bar, low, high, scale, signed, threshold, down, kinds }) {
  return JSON.stringify([x, y, bar, low, high, scale, signed, threshold, down, kinds]);
}

// The cells in colours: `last`, what this made for the picture before, with new cells where these are as many.
function coloured(last, { width, height, low, high, sparse, pixels }, map) {
  const made = last?.canvas.width === width && last.canvas.height === height ? last : empty(width, height);
  const { context, data, words } = made;
  const colours = map.slice();
  // In a sparsity pattern 0 is no entry at all.
  if (sparse) colours[0] = 0;
  if (low === high) colours.fill(colours[128], sparse ? 1 : 0);
  for (let k = 0; k < words.length; k += 1) words[k] = colours[pixels[k]];
  context.putImageData(data, 0, 0);
  return made;
}

// Pixels of values 1, 2, ... that are kinds, each in its colour as #rrggbb; of 0 none.
function wordsOfKinds(colours) {
  const made = new Uint32Array(256);
  colours.forEach((colour, k) => {
    const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    new Uint8ClampedArray(made.buffer, 4 * (k + 1), 4).set([...channels, 255]);
  });
  return made;
}

function empty(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  return { canvas, context, data, words: new Uint32Array(data.data.buffer) };
}

function tick(value) {
  return Math.abs(value) >= 1000 ? countText(Math.round(value)) : String(Number(value.toFixed(6)));
}
