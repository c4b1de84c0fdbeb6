import { surface } from "../ui/surface.js";
import { line, label } from "../ui/axes.js";
import { boxEdges, outlineEdge } from "../ui/boxedges.js";
import { amountOf, rowsOf } from "./circles.js";
import { camera, FRONT, ballAt } from "../ui/camera.js";
import { paintBalls } from "./spheres.js";
import { REFUSED } from "./bubbleplane.js";
import { turning } from "../ui/rotation.js";

// The cube with its bubbles from outside: box, balls and the plane that is being worked on.

const VEIL = [86, 180, 233];
const DIAGONAL = Math.sqrt(3);

export function bubbleCube(host, shown, tools) {
  const view = surface(host, (width) => Math.min(400, 0.92 * width), draw);
  const { canvas } = view;
  const layer = document.createElement("canvas");
  let angles = { ...FRONT };
  let scale = 1;
  canvas.classList.add("wb-turns");
  const turn = turning(canvas, () => angles, (next) => {
    angles = next;
    view.invalidate();
  }, pick);

  function draw(context, colours, width, height) {
    if (shown.state.dimensions !== 3) return;
    const look = camera(angles);
    scale = (Math.min(width, height) - 24) / DIAGONAL;
    const toPage = (place) => {
      const [x, y] = look.project(place);
      return [width / 2 + x * scale, height / 2 - y * scale];
    };
    const edges = boxEdges(look);
    for (const edge of edges) if (!edge.front) drawEdge(context, colours.soft, edge, toPage);
    drawPlane(context, toPage);
    drawBalls(context, look, width, height);
    for (const edge of edges) if (edge.front) drawEdge(context, colours.ink, edge, toPage);
    drawRefused(context, look, width, height);
    drawNames(context, colours, toPage);
    const rows = rowsOf(shown);
    const kept = { azimuth: angles.azimuth.toFixed(1), elevation: angles.elevation.toFixed(1), balls: rows.length };
    Object.assign(canvas.dataset, kept);
    canvas.setAttribute("aria-label", `Cube with ${amountOf(rows)}, seen from azimuth ${kept.azimuth} and elevation `
      + `${kept.elevation} degrees. Arrow keys turn it, Home turns it back.`);
  }

  function drawPlane(context, toPage) {
    const axis = "xyz".indexOf(shown.normal);
    const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map((pair) => {
      const place = [...pair];
      place.splice(axis, 0, shown.position);
      return toPage(place);
    });
    context.beginPath();
    for (const corner of corners) context.lineTo(...corner);
    context.closePath();
    context.fillStyle = `rgba(${VEIL}, 0.3)`;
    context.fill();
    [context.strokeStyle, context.lineWidth] = [`rgb(${VEIL})`, 1.5];
    context.stroke();
  }

  function drawBalls(context, look, width, height) {
    const factor = window.devicePixelRatio || 1;
    [layer.width, layer.height] = [Math.round(width * factor), Math.round(height * factor)];
    const inner = layer.getContext("2d");
    const image = inner.createImageData(layer.width, layer.height);
    const held = shown.state.refused && shown.held?.index === shown.state.refused.index;
    const plane = { axis: "xyz".indexOf(shown.normal), position: shown.position, colour: VEIL };
    paintBalls(image, held ? shown.state.bubbles : rowsOf(shown).filter((row) => row[3] > 0), look, scale * factor, {
      colour: shown.colours.ball,
      marked: shown.state.selected,
      markedColour: [230, 159, 0],
      plane,
    });
    inner.putImageData(image, 0, 0);
    context.drawImage(layer, 0, 0, width, height);
  }

  function drawRefused(context, look, width, height) {
    const { refused } = shown.state;
    if (!refused) return;
    const row = shown.held?.index === refused.index ? shown.held.row : refused.row;
    const [x, y] = look.project(row);
    context.setLineDash([7, 5]);
    [context.strokeStyle, context.lineWidth] = [REFUSED, 2.5];
    context.beginPath();
    context.arc(width / 2 + x * scale, height / 2 - y * scale, row[3] * scale, 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
  }

  // Each axis is written along an edge of the outline, below for x and y and to the left for z, with its two ends.
  function drawNames(context, colours, toPage) {
    const middle = toPage([0.5, 0.5, 0.5]);
    [..."xyz"].forEach((letter, axis) => {
      const [edge, dx, dy] = outlineEdge(axis, toPage, middle);
      const write = (text, share, away, colour) => {
        edge[axis] = share;
        const [x, y] = toPage(edge);
        label(context, colour, text, x + away * dx, y + away * dy, "center", "middle", colours.paper);
      };
      context.font = `${11 * colours.zoom}px ${colours.type}`;
      write("0", 0.04, 9, colours.soft);
      write("1", 0.96, 9, colours.soft);
      context.font = `600 ${13 * colours.zoom}px ${colours.type}`;
      write(letter, 0.5, 11, colours.ink);
    });
    const marked = rowsOf(shown)[shown.state.selected];
    if (marked) label(context, "#ffffff", String(shown.state.selected + 1), ...toPage(marked), "center", "middle", "rgba(0, 0, 0, 0.75)");
  }

  function pick(x, y) {
    const place = [(x - canvas.clientWidth / 2) / scale, (canvas.clientHeight / 2 - y) / scale];
    const index = ballAt(shown.state.bubbles, camera(angles), ...place);
    tools.ask("select", { index, reveal: true });
  }

  return {
    ...view,
    close() {
      turn.close();
      view.close();
    },
  };
}

function drawEdge(context, colour, { from, to }, toPage) {
  context.lineWidth = 1;
  line(context, colour, ...toPage(from), ...toPage(to));
}
