import { label } from "../ui/axes.js";
import { axisEdges, drawAxisNames, drawEdges } from "../ui/boxedges.js";
import { ballAt, camera, farFirst, FRONT } from "../ui/camera.js";
import { turning } from "../ui/rotation.js";
import { surface } from "../ui/surface.js";
import { amountOf, REFUSED, rowsOf } from "./bubbleplane.js";

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
    drawEdges(context, look, toPage, colours.soft, false);
    drawPlane(context, toPage);
    drawBalls(context, look, width, height);
    drawEdges(context, look, toPage, colours.ink, true);
    drawRefused(context, look, width, height);
    drawAxisNames(context, axisEdges(toPage), colours, true, [0, 0, 0]);
    const rows = rowsOf(shown);
    const marked = rows[shown.state.selected];
    if (marked) label(context, "#ffffff", String(shown.state.selected + 1), ...toPage(marked), "center", "middle", "rgba(0, 0, 0, 0.75)");
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
    const dragged = shown.state.refused && shown.dragged?.index === shown.state.refused.index;
    const plane = { axis: "xyz".indexOf(shown.normal), position: shown.position, colour: VEIL };
    paintBalls(image, dragged ? shown.state.bubbles : rowsOf(shown).filter((row) => row[3] > 0), look, scale * factor, {
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
    const row = shown.dragged?.index === refused.index ? shown.dragged.row : refused.row;
    const [x, y] = look.project(row);
    context.setLineDash([7, 5]);
    [context.strokeStyle, context.lineWidth] = [REFUSED, 2.5];
    context.beginPath();
    context.arc(width / 2 + x * scale, height / 2 - y * scale, row[3] * scale, 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
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

// Balls as lit surfaces, pixel by pixel, with a translucent plane through them.

const LIGHT = unit([-0.45, 0.62, 0.64]);
const HALF = unit([LIGHT[0], LIGHT[1], LIGHT[2] + 1]);
const VEILING = 0.3;

// Paints into the pixels of a square picture. scale: pixels in a side length. plane: {axis, position, colour}; colours
// as [red, green, blue]; marked: the ball that has another colour.
function paintBalls(image, rows, view, scale, { colour, marked, markedColour, plane }) {
  image.data.fill(0);
  const cut = cutter(view, plane);
  for (const ball of farFirst(rows, view)) {
    paintBall(image, ball, scale, ball.index === marked ? markedColour : colour, cut, plane.colour);
  }
}

function paintBall({ data, width, height }, { r, at }, scale, colour, cut, veil) {
  const [middleX, middleY, reach] = [width / 2 + at[0] * scale, height / 2 - at[1] * scale, r * scale];
  const [top, bottom] = [Math.max(0, Math.floor(middleY - reach - 1)), Math.min(height - 1, Math.ceil(middleY + reach + 1))];
  for (let j = top; j <= bottom; j += 1) {
    const dy = (middleY - j - 0.5) / reach;
    const half = reach * Math.sqrt(Math.max(0, 1 - dy * dy)) + 1;
    const [first, last] = [Math.max(0, Math.floor(middleX - half)), Math.min(width - 1, Math.ceil(middleX + half))];
    for (let i = first; i <= last; i += 1) {
      const dx = (i + 0.5 - middleX) / reach;
      const distance = Math.hypot(dx, dy);
      // The share of the pixel that the ball covers, so that its edge is smooth.
      const cover = Math.min(1, (1 - distance) * reach + 0.5);
      if (cover <= 0) continue;
      const dz = Math.sqrt(Math.max(0, 1 - distance * distance));
      const lit = 0.48 + 0.52 * Math.max(0, dx * LIGHT[0] + dy * LIGHT[1] + dz * LIGHT[2]);
      const glint = 90 * Math.max(0, dx * HALF[0] + dy * HALF[1] + dz * HALF[2]) ** 40;
      const [x, y] = [(i + 0.5 - width / 2) / scale, (height / 2 - j - 0.5) / scale];
      const before = cut(x, y, at[2] + r * dz);
      const rim = Math.abs(before) * scale < 1.2;
      const k = 4 * (j * width + i);
      for (let c = 0; c < 3; c += 1) {
        let value = colour[c] * lit + glint;
        if (rim) value *= 0.35;
        else if (before > 0) value += VEILING * (veil[c] - value);
        data[k + c] += (value - data[k + c]) * cover;
      }
      data[k + 3] += (255 - data[k + 3]) * cover;
    }
  }
}

// How far the plane lies before a point of a ball, along the ray; below zero behind it, NaN where the ray misses it.
function cutter({ right, up, near }, { axis, position }) {
  if (Math.abs(near[axis]) < 1e-6) return () => NaN;
  const [one, other] = [0, 1, 2].filter((side) => side !== axis);
  const outside = (side, x, y, depth) => Math.abs(right[side] * x + up[side] * y + near[side] * depth) > 0.5;
  return (x, y, depth) => {
    const met = (position - 0.5 - right[axis] * x - up[axis] * y) / near[axis];
    return outside(one, x, y, met) || outside(other, x, y, met) ? NaN : met - depth;
  };
}

function unit(vector) {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
