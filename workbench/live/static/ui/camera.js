// Orthographic projection of the unit cube, from a direction given by azimuth and elevation in degrees; z is upright.

export const FRONT = { azimuth: -60, elevation: 24 };

const RADIAN = Math.PI / 180;

// A camera on the unit cube. right, up, near: unit vectors along the axes of the screen, in the cube's coordinates; near
// points at the viewer. project: the coordinates of a point [x, y, z] along these axes, from the middle of the cube.
export function camera({ azimuth, elevation }) {
  const [a, e] = [azimuth * RADIAN, elevation * RADIAN];
  const right = [-Math.sin(a), Math.cos(a), 0];
  const near = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  const up = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
  const along = (axis, [x, y, z]) => axis[0] * (x - 0.5) + axis[1] * (y - 0.5) + axis[2] * (z - 0.5);
  return {
    near,
    right,
    up,
    // [to the right, upwards, towards the viewer], in side lengths of the cube.
    project: (point) => [along(right, point), along(up, point), along(near, point)],
  };
}

// Balls in the order in which to paint them, the farthest first. Since balls do not overlap, the depth of their centres
// decides which one hides the other. rows: [x, y, z, radius] of each ball. view: a camera. Returns of each ball its
// index, its radius r, and at, its projected centre.
export function farFirst(rows, view) {
  return rows
    .map((row, index) => ({ index, r: row[3], at: view.project(row) }))
    .sort((one, other) => one.at[2] - other.at[2]);
}

// The index of the ball that is visible at a point of the screen, -1 where there is none. x, y: as `project` has them.
export function ballAt(rows, view, x, y) {
  const hit = farFirst(rows, view).filter(({ r, at }) => Math.hypot(x - at[0], y - at[1]) <= r);
  return hit.at(-1)?.index ?? -1;
}
