import { inkOn } from "../ui/theme.js";
import { stripes } from "./fills.js";
import { asHex, colourMap, signedMap } from "../ui/maps.js";
import { setFont, drawText } from "./plotaxes.js";
import { Scale } from "./scale.js";

// A map: cells of a table as colours, with their numbers where there is room, and a colour bar next to it.

const BAR = { away: 16, wide: 12, room: 78 };
// Cells that are larger have a gap between them.
const GAPPED = 20;

export class CellLayer {
  // reported: rows, columns, log, map ("batlow", "viridis" or "signed"), title and kind of the values, absent: a reason for each
  // cell without a value, "" where there is none yet; texts and keys of each cell, or null. Row 0 is at the bottom.
  constructor(reported, values) {
    Object.assign(this, reported, { values });
    const finite = [...values].filter((value) => Number.isFinite(value) && (value > 0 || !this.log));
    let [low, high] = finite.length ? [Math.min(...sampled(finite, Math.min)), Math.max(...sampled(finite, Math.max))] : [0, 1];
    if (this.map === "signed") [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
    this.scale = new Scale();
    this.scale.is({ title: this.title, kind: this.valueKind, log: this.log });
    const ends = [low, high].map((value) => this.scale.inner(value));
    if (ends[0] === ends[1]) ends[1] += 1e-9 + Math.abs(ends[1]) * 1e-9;
    this.scale.span(...ends);
    this.single = low === high;
    [this.image, this.painted] = [null, ""];
  }

  get room() {
    return BAR.room;
  }

  get range() {
    const [x, y] = [[-0.5, this.columns - 0.5], [-0.5, this.rows - 0.5]];
    return { x: [x[0] + this.left, x[1] + this.left], y, logY: y, first: Infinity };
  }

  mapOn(palette) {
    return colourMap(this.map === "signed" ? signedMap(palette) : this.map);
  }

  colourOf(value, map) {
    const share = this.single ? 0.5 : this.scale.share(value);
    return map[Math.max(0, Math.min(255, Math.round(255 * (Number.isFinite(share) ? share : 0))))];
  }

  // A pixel for each cell and the colours of the bar, made once for a theme.
  paint(palette) {
    const as = String(palette.dark);
    if (this.painted === as) return;
    this.painted = as;
    const map = this.mapOn(palette);
    const pixels = new ImageData(this.columns, this.rows);
    for (let k = 0; k < this.values.length; k += 1) {
      if (Number.isNaN(this.values[k])) continue;
      const [row, column] = [Math.floor(k / this.columns), k % this.columns];
      pixels.data.set([...this.colourOf(this.values[k], map), 255], 4 * ((this.rows - 1 - row) * this.columns + column));
    }
    this.image = asCanvas(pixels);
    const bar = new ImageData(1, 256);
    map.forEach((colour, k) => bar.data.set([...colour, 255], 4 * (255 - k)));
    this.bar = asCanvas(bar);
  }

  draw(plot) {
    const { context, frame, palette } = plot;
    this.paint(palette);
    const corner = this.cornerOf(frame, this.rows - 1, 0);
    const [wide, high] = [corner.wide * this.columns, corner.high * this.rows];
    context.save();
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image, corner.left, corner.top, wide, high);
    context.restore();
    if (Math.min(corner.wide, corner.high) >= GAPPED) this.drawGaps(context, frame, palette);
    this.drawNumbers(context, frame, palette);
    return [];
  }

  cornerOf({ toX, toY }, row, column) {
    const [left, right] = [toX(column + this.left - 0.5), toX(column + this.left + 0.5)];
    const [top, bottom] = [toY(row + 0.5), toY(row - 0.5)];
    return { left, top, wide: right - left, high: bottom - top };
  }

  drawGaps(context, frame, palette) {
    context.fillStyle = palette.paper;
    const { left, top, wide, high } = this.cornerOf(frame, this.rows - 1, 0);
    for (let k = 1; k < this.columns; k += 1) context.fillRect(left + k * wide - 1, top, 2, high * this.rows);
    for (let k = 1; k < this.rows; k += 1) context.fillRect(left, top + k * high - 1, wide * this.columns, 2);
  }

  drawNumbers(context, frame, palette) {
    const { box } = frame;
    const { wide, high } = this.cornerOf(frame, 0, 0);
    if (wide < 26 || high < 15 * palette.zoom || this.numbers === false) return;
    const map = this.mapOn(palette);
    for (let k = 0; k < this.values.length; k += 1) {
      const [row, column, value] = [Math.floor(k / this.columns), k % this.columns, this.values[k]];
      const { left, top } = this.cornerOf(frame, row, column);
      if (left + wide < box.left || left > box.right || top + high < box.top || top > box.bottom) continue;
      if (Number.isNaN(value)) this.drawAbsent(context, palette, { left, top, wide, high }, this.absent?.[k] ?? "");
      else {
        setFont(context, palette, 12, 600);
        const words = this.scale.quantity.say(value);
        if (context.measureText(words).width > wide - 4) continue;
        drawText(context, inkOn(asHex(this.colourOf(value, map))), words, left + wide / 2, top + high / 2, "center", "middle");
      }
    }
  }

  drawAbsent(context, palette, { left, top, wide, high }, reason) {
    context.save();
    context.globalAlpha = 0.5;
    context.fillStyle = stripes(context, palette.faint, palette.paper, Boolean(reason));
    context.fillRect(left + 1, top + 1, wide - 2, high - 2);
    context.restore();
    if (!reason) return;
    setFont(context, palette, 11);
    const half = context.measureText(reason).width / 2 + 3;
    if (2 * half > wide) return;
    context.fillStyle = palette.paper;
    context.fillRect(left + wide / 2 - half, top + high / 2 - 8, 2 * half, 16);
    drawText(context, palette.ink, reason, left + wide / 2, top + high / 2, "center", "middle");
  }

  // The colour bar, in the margin.
  drawInMargin({ context, frame, palette }) {
    const { box } = frame;
    const [left, high] = [box.right + BAR.away, box.bottom - box.top];
    context.drawImage(this.bar, left, box.top, BAR.wide, high);
    setFont(context, palette, 11);
    drawText(context, palette.soft, this.scale.heading, box.right + BAR.room, box.bottom + 31 * palette.zoom, "right", "alphabetic");
    const ticks = this.single ? [[this.scale.outer(this.scale.low), this.scale.quantity.say(this.scale.outer(this.scale.low))]] : this.scale.ticks(Math.max(2, Math.floor(high / 60)));
    for (const [value, words] of ticks) {
      const share = this.single ? 0.5 : this.scale.share(value);
      drawText(context, palette.soft, words, left + BAR.wide + 5, box.bottom - share * high, "left", "middle");
    }
  }

  near(plot, px, py) {
    const { frame } = plot;
    const [column, row] = [Math.round(frame.fromX(px)) - this.left, Math.round(frame.fromY(py))];
    if (!(column >= 0 && column < this.columns && row >= 0 && row < this.rows)) return null;
    const k = row * this.columns + column;
    const value = this.values[k];
    const said = Number.isNaN(value) ? this.absent?.[k] || "not run yet" : this.scale.quantity.say(value);
    const words = this.texts?.[k] ?? [`${frame.x.say(column + this.left)}, ${frame.y.say(row)}`, `${this.title} ${said}`];
    this.pointed = [row, column];
    return { k, x: px, y: py, away: 1e-6, key: this.keys?.[k] ?? "", words, layer: this };
  }

  // What is pointed at, or chosen.
  ring({ context, frame, palette }) {
    const { left, top, wide, high } = this.cornerOf(frame, ...this.pointed);
    for (const [colour, width] of [[palette.paper, 5], [palette.accent, 2.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(left + 2, top + 2, Math.max(1, wide - 4), Math.max(1, high - 4));
    }
  }
}

function asCanvas(pixels) {
  const canvas = new OffscreenCanvas(pixels.width, pixels.height);
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

// Spreading a long list over arguments has a limit.
function sampled(values, pick) {
  const found = [];
  for (let k = 0; k < values.length; k += 4096) found.push(pick(...values.slice(k, k + 4096)));
  return found;
}
