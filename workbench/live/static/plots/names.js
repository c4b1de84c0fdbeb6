import { drawMarker, drawPolyline } from "./curve.js";
import { GRIP_ROOM } from "./frame.js";
import { setFont, drawText } from "./plotaxes.js";

// The names at the ends of curves: in ink, with the curve's mark before them; one that would meet another moves.

const HIGH = 15;
const BEFORE = 15;
// Of a plot's width that names may take, and the width below which they stand beneath it.
const MOST = 0.32;
const NARROW = 480;

// Which names stand at the ends: whole, by their tags, or none. Returns the words by layer, and the pixels that they take.
export function planNames(context, palette, layers, { width, height }) {
  const named = layers.filter(({ name, end }) => name && end);
  const none = { words: new Map(), room: 14, whole: false };
  const fits = named.length * HIGH * palette.zoom <= height - 60 * palette.zoom;
  if (width < NARROW || !fits || !named.length) return none;
  setFont(context, palette, 12, 500);
  for (const which of ["name", "tag"]) {
    const wide = Math.max(...named.map((layer) => context.measureText(layer[which] || layer.name).width));
    const room = wide + (BEFORE + 6) * palette.zoom + GRIP_ROOM;
    if (room > MOST * width) continue;
    return { words: new Map(named.map((layer) => [layer, layer[which] || layer.name])), room, whole: which === "name" };
  }
  return none;
}

// Draws them at the right of the axes; returns where each stands, for a click.
export function drawNames({ context, frame, palette, width, off, sideRoom }, { words }) {
  const { box } = frame;
  const high = HIGH * palette.zoom;
  context.fillStyle = palette.paper;
  const left = box.right + sideRoom + GRIP_ROOM;
  context.fillRect(left - GRIP_ROOM + 6, box.top - high, width - left + GRIP_ROOM, box.bottom - box.top + high + 2);
  const ends = [...words].map(([layer, text]) => ({ layer, text, y: layer.end(frame) ?? box.bottom }));
  ends.sort((one, other) => one.y - other.y);
  let last = -Infinity;
  for (const end of ends) last = end.y = Math.max(end.y, last + high);
  let least = box.bottom - high / 2;
  for (const end of ends.toReversed()) {
    end.y = Math.min(end.y, least);
    least = end.y - high;
  }
  setFont(context, palette, 12, 500);
  return ends.map(({ layer, text, y }) => {
    const hidden = off.has(layer.key);
    const colour = hidden ? palette.faint : layer.colourOn(palette);
    if (layer.marker) drawMarker(context, layer.marker, left + 4, y, colour, palette.paper, palette.lines.mark);
    else drawPolyline(context, [left - 2, y, left + 10, y], colour, layer.dash, 0, palette.lines.curve);
    drawText(context, hidden ? palette.soft : palette.ink, text, left + BEFORE * palette.zoom, y, "left", "middle");
    const right = left + BEFORE * palette.zoom + context.measureText(text).width;
    if (hidden) context.fillRect(left + BEFORE * palette.zoom, y, right - left - BEFORE * palette.zoom, 1);
    return { key: layer.key, left: left - 4, top: y - high / 2, right, bottom: y + high / 2 };
  });
}
