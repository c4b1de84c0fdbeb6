import { label, line } from "./axes.js";

// The edges of the unit cube as they are seen, and its axes, each written along one of them.

// The twelve edges; those that meet at the corner next to the viewer lie before everything in the box.
export function boxEdges(look) {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, (bits >> 1) & 1, (bits >> 2) & 1]);
  const nearest = look.near.map((part) => (part > 0 ? 1 : 0));
  return corners.flatMap((from) =>
    [0, 1, 2].filter((axis) => from[axis] === 0).map((axis) => {
      const to = [...from];
      to[axis] = 1;
      return { from, to, front: from.every((part, other) => other === axis || part === nearest[other]) };
    }),
  );
}

export const LETTERS = ["x", "y", "z"];
const TICKS = [[0, "0"], [0.5, "0.5"], [1, "1"]];

export function drawEdges(context, look, toPage, colour, front) {
  context.lineWidth = 1;
  for (const edge of boxEdges(look)) if (edge.front === front) line(context, colour, ...toPage(edge.from), ...toPage(edge.to));
}

// For each axis the edge that it is labelled along: place(share) in pixels, and the way outwards. Of the four edges along
// an axis two lie on the outline; of these it is the left one for z, and the lower one for x and y.
export function axisEdges(toPage) {
  const middle = toPage([0.5, 0.5, 0.5]);
  return LETTERS.map((_, axis) => {
    const edges = [[0, 0], [0, 1], [1, 0], [1, 1]].map((ends) => {
      const place = (share) => toPage(ends.toSpliced(axis, 0, share));
      const [dx, dy] = place(0.5).map((at, way) => at - middle[way]);
      const away = Math.hypot(dx, dy);
      return { place, dx, dy, away, out: [dx / (away || 1), dy / (away || 1)] };
    });
    const outer = edges.sort((one, other) => other.away - one.away).slice(0, 2);
    return outer.sort((one, other) => (axis === 2 ? one.dx - other.dx : other.dy - one.dy))[0];
  });
}

// numbered: with ticks. position: of handles on the axes; a name goes where its handle is not.
export function drawAxisNames(context, edges, colours, numbered, position) {
  const zoom = colours.zoom ?? 1;
  edges.forEach(({ place, out: [dx, dy] }, axis) => {
    context.font = `${11 * zoom}px ${colours.type}`;
    for (const [share, text] of numbered ? TICKS : []) {
      const [x, y] = place(share);
      line(context, colours.soft, x, y, x + 4 * dx, y + 4 * dy);
      label(context, colours.soft, text, x + 13 * dx, y + 13 * dy, "center", "middle", colours.paper);
    }
    context.font = `600 ${13 * zoom}px ${colours.type}`;
    const [x, y] = place(position[axis] > 0.5 ? 0.25 : 0.75);
    label(context, colours.ink, LETTERS[axis], x + 17 * dx, y + 17 * dy, "center", "middle", colours.paper);
  });
}
