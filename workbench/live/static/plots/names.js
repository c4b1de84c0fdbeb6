import { drawMarker, drawPolyline } from "./curve.js";
import { GRIP_ROOM } from "./frame.js";
import { setFont, drawText } from "./plotaxes.js";

// The names at the ends of curves: in ink, with the curve's mark before them; one that would meet another moves.

const HIGH = 15;
const BEFORE = 15;
// Of a plot's width that names may take, and the width below which they stand beneath it.
const MOST = 0.32;
const NARROW = 480;

// Whether names stand at the ends, in lines broken after commas. Returns the lines by layer, and the pixels that they take.
export function planNames(context, palette, layers, { width, height }) {
  const named = layers.filter(({ name, end }) => name && end);
  const none = { words: new Map(), room: GRIP_ROOM, whole: false };
  if (width < NARROW || !named.length) return none;
  setFont(context, palette, 12, 500);
  const margin = (BEFORE + 6) * palette.zoom + GRIP_ROOM;
  const wideOf = (line) => context.measureText(line).width;
  const words = new Map(named.map((layer) => [layer, broken(layer.name, MOST * width - margin, wideOf)]));
  const lines = [...words.values()].flat();
  const room = Math.max(...lines.map(wideOf)) + margin;
  const fits = lines.length * HIGH * palette.zoom <= height - 60 * palette.zoom && room <= MOST * width;
  return fits ? { words, room, whole: true } : none;
}

// The parts of a name between commas, as many on a line as there is room for.
function broken(name, most, wideOf) {
  const lines = [];
  for (const part of name.split(/(?<=,) /)) {
    const longer = lines.length ? `${lines.at(-1)} ${part}` : part;
    if (lines.length && wideOf(longer) <= most) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

// Draws them at the right of the axes; returns where each stands, for a click.
export function drawNames({ context, frame, palette, width, off, sideRoom }, { words }) {
  const { box } = frame;
  const high = HIGH * palette.zoom;
  context.fillStyle = palette.paper;
  const left = box.right + sideRoom + GRIP_ROOM;
  context.fillRect(left - GRIP_ROOM + 6, box.top - high, width - left + GRIP_ROOM, box.bottom - box.top + high + 2);
  // y: of the first line of each.
  const ends = [...words].map(([layer, lines]) => ({ layer, lines, y: layer.end(frame) ?? box.bottom }));
  ends.sort((one, other) => one.y - other.y);
  let free = -Infinity;
  for (const end of ends) {
    end.y = Math.max(end.y, free);
    free = end.y + high * end.lines.length;
  }
  let least = box.bottom + high / 2;
  for (const end of ends.toReversed()) {
    end.y = Math.min(end.y, least - high * end.lines.length);
    least = end.y;
  }
  setFont(context, palette, 12, 500);
  return ends.map(({ layer, lines, y }) => {
    const hidden = off.has(layer.key);
    const colour = hidden ? palette.faint : layer.colourOn(palette);
    if (layer.marker) drawMarker(context, layer.marker, left + 4, y, colour, palette.paper, palette.lines.mark);
    else drawPolyline(context, [left - 2, y, left + 10, y], colour, layer.dash, 0, palette.lines.curve);
    const from = left + BEFORE * palette.zoom;
    lines.forEach((line, k) => {
      drawText(context, hidden ? palette.soft : palette.ink, line, from, y + k * high, "left", "middle");
      if (hidden) context.fillRect(from, y + k * high, context.measureText(line).width, 1);
    });
    const right = from + Math.max(...lines.map((line) => context.measureText(line).width));
    return { key: layer.key, left: left - 4, top: y - high / 2, right, bottom: y + (lines.length - 0.5) * high };
  });
}
