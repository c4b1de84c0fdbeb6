// Bubbles as the plane shows them: circles in 2D, sections of balls in 3D. All lengths in side lengths.

const AXES = { x: [1, 2, 0], y: [0, 2, 1], z: [0, 1, 2] };

// The places in a row of the coordinate across, of that up and, in 3D, of that through the plane.
export function axesOf(shown) {
  return shown.state.dimensions === 3 ? AXES[shown.normal] : [0, 1, -1];
}

// The same as letters.
export function lettersOf(shown) {
  return axesOf(shown).map((place) => "xyz"[place]);
}

// The length of the box along an axis: its height may be another than its other sides.
export function extent(place, shown) {
  return place === shown.state.dimensions - 1 ? shown.state.height : 1;
}

// The rows of all bubbles, that which is held where the pointer has it.
export function rowsOf(shown) {
  const rows = [...(shown.state.bubbles ?? [])];
  if (shown.held && shown.held.index < rows.length) rows[shown.held.index] = shown.held.row;
  return rows;
}

// How many bubbles there are, in words.
export function amountOf(rows) {
  return `${rows.length} bubble${rows.length === 1 ? "" : "s"}`;
}

// The circle in which a bubble meets the plane, null where it does not.
export function circleOf(row, shown) {
  const [across, up] = axesOf(shown);
  const square = row.at(-1) ** 2 - awayOf(row, shown) ** 2;
  return square > 0 ? { x: row[across], y: row[up], r: Math.sqrt(square) } : null;
}

// The row that has another circle, and the same distance to the plane.
export function rowWith(row, circle, shown) {
  const [across, up] = axesOf(shown);
  const next = [...row];
  [next[across], next[up]] = [tidy(circle.x), tidy(circle.y)];
  const before = circleOf(row, shown);
  if (before && circle.r !== before.r) next[next.length - 1] = Math.max(0.001, tidy(Math.hypot(circle.r, awayOf(row, shown))));
  return next;
}

// The distance of a centre to the plane, with its sign.
function awayOf(row, shown) {
  const through = axesOf(shown)[2];
  return through < 0 ? 0 : row[through] - shown.position;
}

// A point of the plane as a place in the box.
export function placeAt(x, y, shown) {
  const [across, up, through] = axesOf(shown);
  const place = new Array(shown.state.dimensions).fill(0);
  [place[across], place[up]] = [tidy(x), tidy(y)];
  if (through >= 0) place[through] = tidy(shown.position);
  return place;
}

// What lies at a point: a bubble and whether it is held by its rim. Inside counts before a rim from outside.
export function bubbleAt(x, y, slack, shown) {
  let found = null;
  rowsOf(shown).forEach((row, index) => {
    const circle = circleOf(row, shown);
    if (!circle) return;
    const beyond = Math.hypot(x - circle.x, y - circle.y) - circle.r;
    if (beyond > slack) return;
    const rim = beyond > -Math.min(slack, 0.4 * circle.r);
    if (!found || beyond < found.beyond) found = { index, rim, beyond };
  });
  return found;
}

// Places by hand are as fine as a thousandth, which is less than a pixel.
function tidy(value) {
  return Math.round(1000 * value) / 1000;
}
