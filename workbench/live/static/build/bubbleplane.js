import { surface } from "../ui/surface.js";
import { drawAxes, linearTicks, label } from "../ui/axes.js";
import { axesOf, circleOf, rowsOf } from "./circles.js";
import { drawSides, BAND } from "./boxsides.js";

// The plane on which bubbles are built: cells, subdomains, and the bubbles over them.

const MARGIN = { left: 34, top: 24, right: 8, bottom: 42 }; // at a zoom of 1
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

  function heightFor(width, { zoom }) {
    // On a high screen all but what is above and below.
    const most = Math.max(300, Math.min(640, 0.55 * innerHeight), Math.min(900, innerHeight - 400));
    return Math.min(most, width - zoom * (MARGIN.left + MARGIN.right)) + zoom * (MARGIN.top + MARGIN.bottom);
  }

  function draw(context, colours, width, height) {
    if (!shown.state.dimensions) return;
    const { zoom } = colours;
    const room = [width - zoom * (MARGIN.left + MARGIN.right), height - zoom * (MARGIN.top + MARGIN.bottom)];
    const size = Math.max(20, Math.min(...room) - 2 * BAND);
    const left = zoom * MARGIN.left + BAND;
    const top = zoom * MARGIN.top + BAND;
    box = { left, top, right: left + size, bottom: top + size };
    context.save();
    context.beginPath();
    context.rect(left, top, size, size);
    context.clip();
    drawCells(context, size);
    drawBubbles(context, colours, size);
    context.restore();
    drawFrame(context, colours, size);
    painted();
  }

  const toX = (x) => box.left + x * (box.right - box.left);
  const toY = (y) => box.bottom - y * (box.bottom - box.top);

  function drawCells(context, size) {
    const { picture, pixels, segments } = shown;
    context.fillStyle = shown.colours.outside;
    context.fillRect(box.left, box.top, size, size);
    if (!picture || "xyz"[axesOf(shown)[0]] !== picture.across || "xyz"[axesOf(shown)[1]] !== picture.up) return;
    context.imageSmoothingEnabled = picture.width > size * (window.devicePixelRatio || 1);
    context.save();
    // Row 0 lies at the bottom.
    context.translate(box.left, box.bottom);
    context.scale(1, -1);
    context.drawImage(pixels, 0, 0, size, size);
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

  function drawBubbles(context, colours, size) {
    const { selected, refused } = shown.state;
    const rows = rowsOf(shown);
    rows.forEach((row, index) => {
      if (index !== selected) drawBubble(context, colours, row, index, size);
    });
    // The selected one lies on top.
    if (rows[selected]) drawBubble(context, colours, rows[selected], selected, size);
    const held = shown.held && shown.held.index === refused?.index;
    if (refused && !held) drawRefused(context, circleOf(refused.row, shown), size);
    if (shown.held && shown.held.index >= rows.length) drawRim(context, circleOf(shown.held.row, shown), size, MARKED, 2, [4, 3]);
  }

  function drawBubble(context, colours, row, index, size) {
    const circle = circleOf(row, shown);
    if (!circle) return;
    const { selected, refused } = shown.state;
    if (shown.held?.index === index && refused?.index === index) {
      // Where it would be put back.
      drawRim(context, circleOf(shown.state.bubbles[index], shown), size, "#ffffff", 1.5, [3, 3]);
      drawRefused(context, circle, size);
    } else drawRim(context, circle, size, index === selected ? MARKED : "#ffffff", index === selected ? 3 : 1.5, []);
    if (index === selected) {
      const [x, y] = [toX(circle.x + circle.r), toY(circle.y)];
      [context.fillStyle, context.strokeStyle, context.lineWidth] = [MARKED, "#000000", 1];
      context.fillRect(x - 4, y - 4, 8, 8);
      context.strokeRect(x - 4, y - 4, 8, 8);
    }
    if (circle.r * size < 9) return;
    context.font = `600 ${12 * colours.zoom}px ${colours.type}`;
    label(context, "#ffffff", String(index + 1), toX(circle.x), toY(circle.y), "center", "middle", "rgba(0, 0, 0, 0.75)");
  }

  function drawRim(context, circle, size, colour, breadth, dashes) {
    if (!circle) return;
    context.setLineDash(dashes);
    for (const [ink, wide] of [["rgba(0, 0, 0, 0.7)", breadth + 2], [colour, breadth]]) {
      [context.strokeStyle, context.lineWidth] = [ink, wide];
      context.beginPath();
      context.arc(toX(circle.x), toY(circle.y), circle.r * size, 0, 2 * Math.PI);
      context.stroke();
    }
    context.setLineDash([]);
  }

  function drawRefused(context, circle, size) {
    if (!circle) return;
    context.fillStyle = "rgba(213, 94, 0, 0.45)";
    context.beginPath();
    context.arc(toX(circle.x), toY(circle.y), circle.r * size, 0, 2 * Math.PI);
    context.fill();
    drawRim(context, circle, size, REFUSED, 3, [7, 5]);
  }

  function drawFrame(context, colours, size) {
    const [across, up] = axesOf(shown).map((place) => "xyz"[place]);
    drawSides(context, colours, box, shown.state.sides, across, up);
    const outer = { left: box.left - BAND, top: box.top - BAND, right: box.right + BAND, bottom: box.bottom + BAND };
    const ticks = linearTicks(0, 1, Math.max(2, Math.floor(size / 55 / colours.zoom))).map((value) => Number(value.toFixed(3)));
    context.font = `${12 * colours.zoom}px ${colours.type}`;
    drawAxes(context, outer, colours, {
      xTicks: ticks.map((value) => [toX(value), String(value)]),
      yTicks: ticks.map((value) => [toY(value), String(value)]),
      xTitle: `${across} (side lengths)`,
      yTitle: `${up} (side lengths)`,
      grid: false,
    });
  }

  // A place on the page in side lengths, the length of a pixel, and the side whose band it lies on.
  function toPlane(event) {
    const { left, top } = canvas.getBoundingClientRect();
    const size = box.right - box.left;
    const [x, y] = [(event.clientX - left - box.left) / size, (box.bottom - event.clientY + top) / size];
    const [across, up] = axesOf(shown).map((place) => "xyz"[place]);
    const band = (BAND + 3) / size;
    const within = (value) => value >= 0 && value <= 1;
    const end = (value) => (value < 0 && value > -band ? "-" : value > 1 && value < 1 + band ? "+" : "");
    const side = within(y) && end(x) ? across + end(x) : within(x) && end(y) ? up + end(y) : "";
    return { x, y, side, free: within(x) && within(y), pixel: 1 / size };
  }

  return { ...view, toPlane };
}
