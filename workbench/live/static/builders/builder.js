import { coloursOf } from "../field/colormaps.js";
import { tellKernel } from "../transport/kernel.js";
import { copied, link } from "../transport/link.js";
import { typeset } from "../ui/numbers.js";
import { element } from "../ui/page.js";
import { planeRow } from "../ui/planerow.js";
import { follow } from "../ui/traits.js";
import { bubbleCube } from "./bubblecube.js";
import { bubbleHands, bubbleKeys, bubbleList } from "./bubblehands.js";
import { amountOf, axesOf, bubblePlane, circleOf, extent, lettersOf, rowsOf } from "./bubbleplane.js";

// The canvas of bubbles: what its user does goes to the kernel, what the kernel answers is drawn.

const SHADES = coloursOf("cividis");
const SAME_STROKE = 700;
const POINTER = "Click or drag on free space: add. Drag a bubble: move. Drag its rim: resize.";
const BY_KEYS = "Tab or [ ]: select. Arrows: move, with Shift finer. + − or the wheel: resize. Insert, Delete: add, remove. Ctrl+Z: undo.";

function render({ model, el }) {
  const root = element("div", "wb-view wb-builder");
  const row = element("div", "wb-drawing");
  const [flat, solid] = [element("div", "wb-plane"), element("div", "wb-solid")];
  const aside = element("div", "wb-aside");
  const note = element("div", "wb-note");
  const alone = model.get("alone");
  el.append(root);
  const shown = { state: model.get("state"), alone, dragged: null, picture: null, pixels: null, segments: new Float32Array(0) };
  let [last, stroke, spoken] = [0, null, 0];

  const tools = {
    // Numbers continue after a reload of the page, since those of the last page may have been higher.
    ask(act, values) {
      last = Math.max(last + 1, Date.now());
      tellKernel(model, { act, ...values, seq: last });
      return last;
    },
    drag(dragged) {
      shown.dragged = dragged;
      redraw();
    },
    // A step by key or wheel; those that follow at once are undone together.
    nudge(index, next, more = {}) {
      const now = performance.now();
      if (stroke?.index !== index || now - stroke.at > SAME_STROKE) stroke = { index, name: `step-${Date.now()}` };
      stroke.at = now;
      const seq = tools.ask("place", { index, row: next, stroke: stroke.name, ...more });
      tools.drag({ index, row: next, seq });
    },
  };
  const plane = bubblePlane(flat, shown, painted);
  const cube = bubbleCube(solid, shown, tools);
  const hands = bubbleHands(plane, shown, tools);
  bubbleKeys(plane.canvas, shown, tools);
  const list = bubbleList(shown, tools);
  const slice = planeRow(model, {
    kind: "plane",
    trait: "position",
    spoken: "place of the plane",
    limits: { min: 0, max: 1, step: 0.005 },
    say: (axis, place) => `${axis} = ${place.toFixed(3)}`,
    shown(place) {
      [shown.normal, shown.position] = [model.get("normal"), model.get("position")];
      // A box may be higher than it is wide.
      place.max = extent(axesOf(shown)[2], shown);
      redraw();
    },
  });
  const legend = buildersLegend(shown);
  flat.append(slice.row);
  aside.append(solid, list.root);
  row.append(flat, ...(alone ? [] : [aside]));
  root.append(row, ...(alone ? [] : [legend.root, note]), help());
  const wire = link(model, apply);

  function apply(content, buffer) {
    spoken = content.seq;
    plane.invalidate();
    if (alone) return false;
    const bytes = copied(buffer, Uint8Array);
    shown.picture = content;
    shown.segments = new Float32Array(bytes.buffer.slice(bytes.length - 16 * content.segments));
    shown.bytes = bytes;
    shown.pixels = coloured(bytes, content, shown.colours);
    note.textContent = content.note;
    return false;
  }

  function redraw() {
    plane.invalidate();
    cube.invalidate();
  }

  function take() {
    shown.state = model.get("state");
    const { dimensions, density_ratio: ratio, heard } = shown.state;
    if (shown.dragged && heard >= shown.dragged.seq) shown.dragged = null;
    const next = coefficientColours(ratio);
    if (shown.colours?.ratio !== next.ratio) {
      shown.colours = next;
      if (shown.picture) shown.pixels = coloured(shown.bytes, shown.picture, next);
    }
    root.dataset.dimensions = dimensions;
    slice.row.hidden = solid.hidden = dimensions !== 3;
    list.show();
    legend.show();
    slice.pull();
  }

  function painted() {
    const { bubbles, selected, refused, sides } = shown.state;
    const { columns = 0, segments = 0, cells = 0 } = { ...shown.picture, columns: shown.picture?.width };
    const seen = rowsOf(shown).filter((each) => circleOf(each, shown)).length;
    const dirichlet = Object.keys(sides).filter((side) => sides[side] === "dirichlet").join();
    const drawn = { bubbles: bubbles.length, selected, seen, columns, segments, cells, dirichlet, refused: refused?.index ?? "" };
    Object.assign(plane.canvas.dataset, drawn);
    plane.canvas.setAttribute("aria-label", inWords());
    wire.painted(spoken);
  }

  function inWords() {
    const { bubbles, selected, dimensions } = shown.state;
    const at = dimensions === 3 ? `, plane ${shown.normal} = ${shown.position.toFixed(3)}` : "";
    const chosen = bubbles[selected];
    const reported = chosen ? `Bubble ${selected + 1} at ${chosen.slice(0, -1).map((at) => typeset(at)).join(", ")}, radius ${typeset(chosen.at(-1))}.` : "None selected.";
    return `${amountOf(bubbles)} on ${lettersOf(shown).slice(0, 2).join(" and ")}${at}. ${reported}`;
  }

  const forget = follow(model, ["state"], take);
  take();
  return () => {
    forget();
    for (const part of [slice, hands, wire, cube, plane]) part.close();
    root.remove();
  };
}

// What the pointer does, and folded what keys do.
function help() {
  const [root, keys] = [element("div", "wb-help", POINTER), element("details", "")];
  keys.append(element("summary", "", "Keys"), BY_KEYS);
  root.append(keys);
  return root;
}

// The larger coefficient is the lighter colour, as in the field view, but neither end is quite black or yellow.
function coefficientColours(ratio) {
  const [high, low] = [232, 44];
  const levels = ratio === 1 ? [128, 128] : ratio < 1 ? [high, low] : [low, high];
  const [inside, outside] = levels.map((level) => [...SHADES.subarray(3 * level, 3 * level + 3)]);
  const [ball, css] = [ratio > 1 ? [96, 122, 176] : inside, (colour) => `rgb(${colour.join()})`];
  return { ratio, ball, inside: css(inside), outside: css(outside), pair: [outside, inside] };
}

function coloured(bytes, { width, height }, { pair }) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let k = 0; k < width * height; k += 1) {
    image.data.set(pair[bytes[k]], 4 * k);
    image.data[4 * k + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// The colours of the cells and the sides in words: densities are relative to that inside the bubbles.
function buildersLegend(shown) {
  const root = element("ul", "wb-legend wb-words");
  const show = () => {
    const { inside, outside, ratio } = shown.colours;
    root.replaceChildren(
      entry("", "inside: density 1", inside),
      entry("", `outside: density ${typeset(1 / ratio)}`, outside),
      entry("wb-neumann", "wall (Neumann)"),
      entry("wb-dirichlet", "fixed pressure (Dirichlet): click a side"),
    );
  };
  return { root, show };
}

function entry(name, words, colour = "") {
  const [line, patch] = [element("li", ""), element("span", `wb-patch ${name}`)];
  patch.style.background = colour;
  line.append(patch, words);
  return line;
}

export default { render };
