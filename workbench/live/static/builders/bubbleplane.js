import { drawAxes, label, line, linearTicks } from "../ui/axes.js";
import { counted } from "../ui/numbers.js";
import { surface } from "../ui/surface.js";
import { onPage } from "../ui/theme.js";

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

// The rows of all bubbles, the dragged one where the pointer is.
export function rowsOf(shown) {
  const rows = [...(shown.state.bubbles ?? [])];
  if (shown.dragged && shown.dragged.index < rows.length) rows[shown.dragged.index] = shown.dragged.row;
  return rows;
}

// How many bubbles there are, in words.
export function amountOf(rows) {
  return counted(rows.length, "bubble");
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

// What lies at a point: a bubble, and if it is its rim. Inside counts before a rim from outside.
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

// The frame of the plane as its boundary conditions: hatched where a wall is, filled where the pressure is fixed.

const BAND = 9;
const DIRICHLET = "#0072b2";

function drawSides(context, colours, box, sides, across, up) {
  const { left, top, right, bottom } = box;
  const bands = {
    [`${across}-`]: [left - BAND, top, BAND, bottom - top],
    [`${across}+`]: [right, top, BAND, bottom - top],
    [`${up}-`]: [left, bottom, right - left, BAND],
    [`${up}+`]: [left, top - BAND, right - left, BAND],
  };
  for (const [side, band] of Object.entries(bands)) drawBand(context, colours, band, sides[side] === "dirichlet");
  context.strokeStyle = colours.ink;
  context.lineWidth = 1;
  context.strokeRect(left, top, right - left, bottom - top);
}

function drawBand(context, colours, [left, top, width, height], dirichlet) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  if (dirichlet) {
    context.fillStyle = onPage(DIRICHLET, colours);
    context.fillRect(left, top, width, height);
  } else {
    context.lineWidth = 1;
    for (let k = -height; k < width; k += 6) line(context, colours.soft, left + k, top + height, left + k + height, top);
  }
  context.restore();
}

// The plane on which bubbles are built: cells, subdomains, and the bubbles over them.

// At a zoom of 1; across and up: of both sides together.
const MARGIN = { left: 34, top: 24, across: 42, up: 66 };
const GRID_UP_TO = 32;
const MARKED = "#c48700";
export const REFUSED = "#d55e00";

// painted() is called after each drawing.
export function bubblePlane(host, shown, painted) {
  const view = surface(host, heightFor, draw);
  const { canvas } = view;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "canvas of bubbles");
  let box = { left: 0, top: 0, right: 1, bottom: 1 };
  // Pixels of a side length.
  let unit = 1;

  // The lengths of the plane across and up.
  const spans = () => axesOf(shown).slice(0, 2).map((place) => extent(place, shown));

  function heightFor(width, { zoom }) {
    // On a high screen all but what is above and below.
    const most = Math.max(300, Math.min(640, 0.55 * innerHeight), Math.min(900, innerHeight - 400));
    const [across, up] = spans();
    return Math.min(most, (up / across) * (width - zoom * MARGIN.across)) + zoom * MARGIN.up;
  }

  function draw(context, colours, width, height) {
    if (!shown.state.dimensions) return;
    const { zoom } = colours;
    const room = [width - zoom * MARGIN.across, height - zoom * MARGIN.up];
    const [across, up] = spans();
    unit = Math.max(20, Math.min((room[0] - 2 * BAND) / across, (room[1] - 2 * BAND) / up));
    const [left, top] = [zoom * MARGIN.left + BAND, zoom * MARGIN.top + BAND];
    box = { left, top, right: left + across * unit, bottom: top + up * unit };
    context.save();
    context.beginPath();
    context.rect(left, top, across * unit, up * unit);
    context.clip();
    drawCells(context);
    drawBubbles(context, colours);
    context.restore();
    drawFrame(context, colours);
    painted();
  }

  const toX = (x) => box.left + x * unit;
  const toY = (y) => box.bottom - y * unit;

  function drawCells(context) {
    const { picture, pixels, segments } = shown;
    context.fillStyle = shown.colours.outside;
    context.fillRect(box.left, box.top, box.right, box.bottom);
    const [across, up] = lettersOf(shown);
    if (!picture || across !== picture.across || up !== picture.up) return;
    context.imageSmoothingEnabled = picture.width > unit * (window.devicePixelRatio || 1);
    context.save();
    // Row 0 lies at the bottom.
    context.translate(box.left, box.bottom);
    context.scale(1, -1);
    context.drawImage(pixels, 0, 0, unit, unit);
    context.restore();
    if (picture.cells === picture.n && picture.n <= GRID_UP_TO) drawGrid(context, picture.n);
    // A dark line under a light one can be seen on every colour.
    for (const [colour, breadth] of [["rgba(0, 0, 0, 0.6)", 2.4], ["#ffffff", 1]]) {
      [context.strokeStyle, context.lineWidth] = [colour, breadth];
      context.beginPath();
      for (let k = 0; k < segments.length; k += 4) {
        context.moveTo(toX(segments[k]), toY(segments[k + 1]));
        context.lineTo(toX(segments[k + 2]), toY(segments[k + 3]));
      }
      context.stroke();
    }
  }

  function drawGrid(context, cells) {
    [context.strokeStyle, context.lineWidth] = ["rgba(128, 128, 128, 0.6)", 0.75];
    context.beginPath();
    for (let k = 1; k < cells; k += 1) {
      context.moveTo(toX(k / cells), box.top);
      context.lineTo(toX(k / cells), box.bottom);
      context.moveTo(box.left, toY(k / cells));
      context.lineTo(box.right, toY(k / cells));
    }
    context.stroke();
  }

  function drawBubbles(context, colours) {
    const { selected, refused } = shown.state;
    const rows = rowsOf(shown);
    rows.forEach((row, index) => {
      if (index !== selected) drawBubble(context, colours, row, index);
    });
    // The selected one lies on top.
    if (rows[selected]) drawBubble(context, colours, rows[selected], selected);
    const dragged = shown.dragged && shown.dragged.index === refused?.index;
    if (refused && !dragged) drawRefused(context, circleOf(refused.row, shown));
    if (shown.dragged && shown.dragged.index >= rows.length) drawRim(context, circleOf(shown.dragged.row, shown), MARKED, 2, [4, 3]);
  }

  function drawBubble(context, colours, row, index) {
    const circle = circleOf(row, shown);
    if (!circle) return;
    if (shown.alone) fill(context, circle, shown.colours.inside);
    const { selected, refused } = shown.state;
    if (shown.dragged?.index === index && refused?.index === index) {
      // Where it would be put back.
      drawRim(context, circleOf(shown.state.bubbles[index], shown), "#ffffff", 1.5, [3, 3]);
      drawRefused(context, circle);
    } else drawRim(context, circle, index === selected ? MARKED : "#ffffff", index === selected ? 3 : 1.5, []);
    if (index === selected) {
      const [x, y] = [toX(circle.x + circle.r), toY(circle.y)];
      [context.fillStyle, context.strokeStyle, context.lineWidth] = [MARKED, "#000000", 1];
      context.fillRect(x - 4, y - 4, 8, 8);
      context.strokeRect(x - 4, y - 4, 8, 8);
    }
    if (circle.r * unit < 9) return;
    context.font = `600 ${12 * colours.zoom}px ${colours.type}`;
    label(context, "#ffffff", String(index + 1), toX(circle.x), toY(circle.y), "center", "middle", "rgba(0, 0, 0, 0.75)");
  }

  function drawRim(context, circle, colour, breadth, dashes) {
    if (!circle) return;
    context.setLineDash(dashes);
    for (const [ink, wide] of [["rgba(0, 0, 0, 0.7)", breadth + 2], [colour, breadth]]) {
      [context.strokeStyle, context.lineWidth] = [ink, wide];
      outline(context, circle);
      context.stroke();
    }
    context.setLineDash([]);
  }

  function outline(context, circle) {
    context.beginPath();
    context.arc(toX(circle.x), toY(circle.y), circle.r * unit, 0, 2 * Math.PI);
  }

  function fill(context, circle, colour) {
    context.fillStyle = colour;
    outline(context, circle);
    context.fill();
  }

  function drawRefused(context, circle) {
    if (!circle) return;
    fill(context, circle, "rgba(213, 94, 0, 0.45)");
    drawRim(context, circle, REFUSED, 3, [7, 5]);
  }

  function drawFrame(context, colours) {
    const [across, up] = lettersOf(shown);
    drawSides(context, colours, box, shown.state.sides, across, up);
    const outer = { left: box.left - BAND, top: box.top - BAND, right: box.right + BAND, bottom: box.bottom + BAND };
    const ticks = (span, toPixel) => linearTicks(0, span, Math.max(2, Math.floor((span * unit) / 55 / colours.zoom)))
      .map((value) => [toPixel(value), String(Number(value.toFixed(3)))]);
    const [wide, tall] = spans();
    context.font = `${12 * colours.zoom}px ${colours.type}`;
    drawAxes(context, outer, colours, {
      xTicks: ticks(wide, toX),
      yTicks: ticks(tall, toY),
      xTitle: `${across} (${shown.state.unit})`,
      yTitle: `${up} (${shown.state.unit})`,
      grid: false,
    });
  }

  // A place on the page in side lengths, the length of a pixel, and the side whose band it lies on.
  function toPlane(event) {
    const { left, top } = canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - left - box.left) / unit, (box.bottom - event.clientY + top) / unit];
    const [wide, tall] = spans();
    const [across, up] = lettersOf(shown);
    const band = (BAND + 3) / unit;
    const within = (value, span) => value >= 0 && value <= span;
    const end = (value, span) => (value < 0 && value > -band ? "-" : value > span && value < span + band ? "+" : "");
    const [inX, inY] = [within(x, wide), within(y, tall)];
    const side = inY && end(x, wide) ? across + end(x, wide) : inX && end(y, tall) ? up + end(y, tall) : "";
    return { x, y, side: side in shown.state.sides ? side : "", free: inX && inY, pixel: 1 / unit };
  }

  return { ...view, toPlane };
}
