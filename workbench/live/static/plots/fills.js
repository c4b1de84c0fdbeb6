// The stripes of a cell without a value, crossed ones where it says why.

const TILE = 8;

export function stripes(context, colour, paper, crossed) {
  const tile = new OffscreenCanvas(TILE, TILE);
  const stroke = tile.getContext("2d");
  stroke.fillStyle = colour;
  stroke.fillRect(0, 0, TILE, TILE);
  [stroke.strokeStyle, stroke.lineWidth] = [paper, 1.6];
  diagonal(stroke, 1);
  if (crossed) diagonal(stroke, -1);
  return context.createPattern(tile, "repeat");
}

// Three strokes, so that the tile fits its neighbours at the corners.
function diagonal(stroke, way) {
  stroke.beginPath();
  for (const shift of [-TILE, 0, TILE]) {
    stroke.moveTo(shift - TILE, way > 0 ? 2 * TILE : -TILE);
    stroke.lineTo(shift + 2 * TILE, way > 0 ? -TILE : 2 * TILE);
  }
  stroke.stroke();
}
