import { label } from "../ui/axes.js";
import { LETTERS } from "../ui/boxedges.js";
import { mapOf, wordsOf } from "./colormaps.js";

// The three slices of a volume as plain pictures, where the page has no WebGL2.

const [BETWEEN, ABOVE, BELOW] = [36, 52, 34];
// The axes across and up of the slice normal to x, y and z.
const ALONG = [[1, 2], [0, 2], [0, 1]];

// What paints at once and is always as fine as it can be.
export function flatStage(paint) {
  let frame = 0;
  return {
    invalidate() {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        paint();
      });
    },
    close: () => cancelAnimationFrame(frame),
  };
}

// Returns where the handle of each slice runs: a line beneath its picture.
export function drawFlat(context, room, colours, picture, position) {
  const size = Math.max(40, Math.min((room.width - 4 * BETWEEN) / 3, room.height - ABOVE - BELOW));
  const left = Math.max(BETWEEN, (room.width - 3 * size - 2 * BETWEEN) / 2);
  return ALONG.map(([across, up], normal) => {
    const x = left + normal * (size + BETWEEN);
    if (picture.size[0]) drawSlice(context, { x, y: ABOVE, size }, picture, wordsOf(mapOf(picture, colours)), normal, position[normal]);
    context.strokeStyle = colours.soft;
    context.lineWidth = 1;
    context.strokeRect(x, ABOVE, size, size);
    context.font = `12px ${colours.type}`;
    const words = `${LETTERS[normal]} = ${position[normal].toFixed(3)}`;
    label(context, colours.ink, words, x + size / 2, ABOVE - 6, "center", "bottom");
    label(context, colours.soft, `${LETTERS[across]} →`, x + size, ABOVE + size + 5, "right", "top");
    label(context, colours.soft, `${LETTERS[up]} ↑`, x - 4, ABOVE, "right", "top");
    return (share) => [x + share * size, ABOVE + size + BELOW - 8];
  });
}

function drawSlice(context, { x, y, size }, { size: cells, reach, bytes, low, high }, words, normal, share) {
  const [across, up] = ALONG[normal];
  const strides = [1, cells[0], cells[0] * cells[1]];
  const plane = Math.min(cells[normal] - 1, Math.floor(share * reach[normal] * cells[normal])) * strides[normal];
  const [columns, rows] = [cells[across], cells[up]];
  const data = context.createImageData(columns, rows);
  const pixels = new Uint32Array(data.data.buffer);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = bytes[plane + row * strides[up] + column * strides[across]];
      pixels[(rows - 1 - row) * columns + column] = words[low === high ? 128 : value];
    }
  }
  const canvas = new OffscreenCanvas(columns, rows);
  canvas.getContext("2d").putImageData(data, 0, 0);
  context.imageSmoothingEnabled = false;
  // The last blocks of cells may reach beyond the cube.
  const [width, height] = [reach[across] * columns, reach[up] * rows];
  context.drawImage(canvas, 0, rows - height, width, height, x, y, size, size);
}
