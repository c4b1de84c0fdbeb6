import { label, line } from "../ui/axes.js";
import { boxEdges, outlineEdge } from "../ui/boxedges.js";

// What is written and drawn around the cube: its edges, and the axes with their ends.

export const LETTERS = ["x", "y", "z"];
const TICKS = [[0, "0"], [0.5, "0.5"], [1, "1"]];

export function drawEdges(context, look, toPage, colour, front) {
  context.lineWidth = 1;
  for (const edge of boxEdges(look)) if (edge.front === front) line(context, colour, ...toPage(edge.from), ...toPage(edge.to));
}

// For each axis the edge that it is labelled along: place(share) in pixels, and the way outwards.
export function axisEdges(toPage) {
  const middle = toPage([0.5, 0.5, 0.5]);
  return LETTERS.map((_, axis) => {
    const [edge, dx, dy] = outlineEdge(axis, toPage, middle);
    const place = (share) => {
      const at = [...edge];
      at[axis] = share;
      return toPage(at);
    };
    return { place, out: [dx, dy] };
  });
}

// position: of the handles, which stand on the axes; a name goes where its handle is not.
export function drawAxisNames(context, edges, colours, numbered, position) {
  edges.forEach(({ place, out: [dx, dy] }, axis) => {
    context.font = `11px ${colours.type}`;
    for (const [share, text] of numbered ? TICKS : []) {
      const [x, y] = place(share);
      line(context, colours.soft, x, y, x + 4 * dx, y + 4 * dy);
      label(context, colours.soft, text, x + 13 * dx, y + 13 * dy, "center", "middle", colours.paper);
    }
    context.font = `600 13px ${colours.type}`;
    const [x, y] = place(position[axis] > 0.5 ? 0.25 : 0.75);
    label(context, colours.ink, LETTERS[axis], x + 17 * dx, y + 17 * dy, "center", "middle", colours.paper);
  });
}
