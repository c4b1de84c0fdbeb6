// The edges of the unit cube as they are seen, and the one of them along which an axis is labelled.

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

// Of the four edges along an axis two lie on the outline; one of them, by its middle, and the way outwards from it.
export function outlineEdge(axis, toPage, middle) {
  const edges = [[0, 0], [0, 1], [1, 0], [1, 1]].map((ends) => {
    const place = [...ends];
    place.splice(axis, 0, 0.5);
    const [x, y] = toPage(place);
    const [dx, dy] = [x - middle[0], y - middle[1]];
    return { place, dx, dy, away: Math.hypot(dx, dy) };
  });
  const outer = edges.sort((one, other) => other.away - one.away).slice(0, 2);
  const [{ place, dx, dy, away }] = outer.sort((one, other) => (axis === 2 ? one.dx - other.dx : other.dy - one.dy));
  return [place, dx / (away || 1), dy / (away || 1)];
}
