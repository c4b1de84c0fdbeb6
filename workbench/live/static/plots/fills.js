import { inkOn, onPage } from "../ui/theme.js";

// How kernels look: a colour, and a hatch where colours run out.

const TILE = 8;

// What to fill with: {fill, ink, halo}, the ink for letters on it, and a halo behind them where the ground is not plain.
export function fillOf(context, { colour, hatch }, colours) {
  const own = onPage(colour, colours);
  if (hatch === 0) return { fill: own, ink: inkOn(own) };
  const tile = new OffscreenCanvas(TILE, TILE);
  const stroke = tile.getContext("2d");
  stroke.fillStyle = own;
  stroke.fillRect(0, 0, TILE, TILE);
  [stroke.strokeStyle, stroke.fillStyle, stroke.lineWidth] = [colours.paper, colours.paper, 1.6];
  draw[hatch](stroke);
  return { fill: context.createPattern(tile, "repeat"), ink: colours.ink, halo: colours.paper };
}

const draw = {
  1: (stroke) => diagonal(stroke, 1),
  2: (stroke) => {
    for (const [x, y] of [[2, 2], [6, 6]]) stroke.fillRect(x - 1, y - 1, 2, 2);
  },
  3: (stroke) => {
    diagonal(stroke, 1);
    diagonal(stroke, -1);
  },
};

// Three strokes, so that the tile fits its neighbours at the corners.
function diagonal(stroke, way) {
  stroke.beginPath();
  for (const shift of [-TILE, 0, TILE]) {
    stroke.moveTo(shift - TILE, way > 0 ? 2 * TILE : -TILE);
    stroke.lineTo(shift + 2 * TILE, way > 0 ? -TILE : 2 * TILE);
  }
  stroke.stroke();
}
