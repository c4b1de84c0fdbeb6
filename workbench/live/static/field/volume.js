import { copied, link } from "../transport/link.js";
import { atMost } from "../transport/throttle.js";
import { axisEdges, drawAxisNames, drawEdges } from "../ui/boxedges.js";
import { camera, FRONT } from "../ui/camera.js";
import { element, focusable, tallOf, write } from "../ui/page.js";
import { turning } from "../ui/rotation.js";
import { onThemeChange, theme } from "../ui/theme.js";
import { follow, setTraits } from "../ui/traits.js";
import { linked } from "../ui/linked.js";
import { coloursOf, mapOf } from "./colormaps.js";
import { filmControl } from "./filmcontrol.js";
import { drawScale, inWords, scaleRoom, volumeControls } from "./volumecontrols.js";
import { drawFlat, flatStage } from "./volumeflat.js";
import { volumeHandles, volumeRoom, zooming } from "./volumeframe.js";
import { BLOCKS, volumeRenderer, volumeStage, writeRanges } from "./volumegl.js";

// The 3D view: the cube in WebGL between two canvases of lines and words, its handles, and what is known of it in words.

const NO_WEBGL = "This page has no WebGL2, so the three slices are shown in 2D; with hardware acceleration a browser shows the cube.";
const LOST = "The graphics context was lost; the cube is shown again when the browser restores it.";
// Pictures per second: where the cores draw them they are the solver's, too.
const RATES = { hardware: 10, software: 3 };
const REPORT_MS = 1000;
// Of the room on the page: its greatest width over its height, and its height over its width with pixels for words.
const [CUBE_SHAPE, FLAT_SHAPE] = [{ widest: 1.55, tall: 0.9, words: 0 }, { widest: 2.6, tall: 0.27, words: 90 }];
const [ABOVE_BAR, BELOW_BAR, BAR_GAP] = [40, 14, 12];

function render({ model, el }) {
  const root = element("div", "wb-view wb-volume");
  const [heading, excuse, note] = ["wb-heading", "wb-note", "wb-note"].map((name) => element("div", name));
  const plot = element("div", "wb-plot wb-cube");
  const [under, cube, over] = [element("canvas", "wb-layer"), element("canvas", "wb-layer"), focusable()];
  over.classList.add("wb-layer", "wb-turns");
  // What is said in the hole while there is no cube.
  const hollow = element("div", "wb-hollow");
  plot.append(under, cube, over, hollow);
  el.append(root);
  let [angles, zoom, colours] = [{ ...FRONT }, 1, theme(el)];
  let glass = glassOf(colours);
  let [picture, still, seq] = [{ size: [0, 0, 0] }, {}, 0];
  // fresh: the textures do not hold the picture yet.
  let [fresh, paints, frames, quality, spent] = [false, 0, 0, 0, 0];
  const ranges = new Uint8Array(4 * BLOCKS ** 3);
  const moved = () => stage.invalidate();
  const renderer = volumeRenderer(cube, () => write(excuse, LOST), () => {
    write(excuse, "");
    upload();
    moved();
  });
  if (!renderer) write(excuse, NO_WEBGL);
  const controls = volumeControls(model, moved, () => Boolean(renderer));
  const film = filmControl(model, (iteration) => others.tell(iteration));
  const others = linked(model, ({ iteration }) => film.look(iteration));
  root.append(controls.rows, heading, plot, film.row, excuse, note);
  const handles = volumeHandles(plot, () => model.get("position"), (axis, share) => {
    setTraits(model, { position: model.get("position").map((place, other) => (other === axis ? share : place)) });
  });
  const stage = renderer ? volumeStage(cube, renderer, drawCube, drawn) : flatStage(() => {
    drawAround();
    drawn(1, 0);
  });
  const room = volumeRoom(plot, { under, cube, over }, () => tallOf(model), renderer ? CUBE_SHAPE : FLAT_SHAPE, () => {
    const { dark } = colours;
    colours = theme(plot);
    glass = glassOf(colours);
    // The map of what has a sign depends on the theme.
    fresh ||= colours.dark !== dark;
    stage.invalidate("whole");
  });
  const turn = turning(over, () => angles, (changed) => {
    angles = changed;
    moved();
  }, () => {});
  if (renderer) {
    zooming(over, () => zoom, (changed) => {
      zoom = changed;
      moved();
    });
  }
  const report = atMost(REPORT_MS, tell);
  const feed = volumeFeed((reported) => {
    still = reported;
    upload();
    controls.know(picture, still);
    moved();
  }, (reported) => {
    picture = reported;
    fresh = true;
    frames += 1;
    controls.know(picture, still);
    film.show(picture);
    stage.invalidate(picture.live ? "live" : "moving");
  });
  const wire = link(model, (content, buffer) => {
    seq = content.seq;
    feed.take(content, buffer);
    return false;
  });
  setTraits(model, { rate: renderer && !renderer.software ? RATES.hardware : RATES.software });

  function upload() {
    if (!renderer || !still.size) return;
    renderer.setPieces(still.boxes);
    if (still.labels.length) renderer.volume("labels", still.labels, still.labelled);
    renderer.volume("surfaces", still.surfaces, still.size);
    writeRanges(ranges, 2, still.surfaces, still.size, still.reach);
    fresh = true;
  }

  // Which parts are drawn of what is there.
  function shown() {
    const [filled, own, some] = [picture.size[0] > 0, picture.quantity === "coefficient", Boolean(still.phases)];
    const flat = picture.low === picture.high || (own && !some);
    const apart = model.get("subdomains") && filled && renderer && still.pieces > 1 ? model.get("apart") : 0;
    return {
      slices: filled && model.get("slices"),
      surface: filled && !flat && Boolean(renderer) && model.get("surface"),
      phases: filled && some && !own && Boolean(renderer) && model.get("phases"),
      subdomains: model.get("subdomains") && still.pieces > 1,
      level: model.get("level"),
      position: model.get("position"),
      pieces: apart > 0 ? still.pieces : 0,
      turns: Boolean(renderer),
      apart,
      own,
    };
  }

  function drawCube(chosen) {
    const parts = shown();
    const { look, span } = drawAround();
    if (fresh && picture.size[0]) {
      fresh = false;
      renderer.volume("values", picture.bytes, picture.size);
      writeRanges(ranges, 0, picture.bytes, picture.size, picture.reach);
      renderer.volume("ranges", ranges, [BLOCKS, BLOCKS, BLOCKS]);
      const table = coloursOf(mapOf(picture, colours));
      renderer.palette(picture.low === picture.high ? table.map((_, k) => table[3 * 128 + (k % 3)]) : table);
    }
    renderer.draw({
      ...parts,
      ...look,
      span,
      valuesReach: picture.reach ?? [1, 1, 1],
      surfacesReach: still.reach ?? [1, 1, 1],
      labelsReach: still.labelsreach ?? [1, 1, 1],
      signed: picture.signed,
      crisp: parts.own,
      inside: still.inside ? 1 : -1,
      glass,
      // Steps per side length: one per cell, and fewer where pixels are coarse as well.
      steps: Math.max(40, ...picture.size) * Math.min(1, 0.5 + 0.5 * chosen),
    }, chosen);
  }

  // The canvases of lines and words, below and above the cube.
  function drawAround() {
    const [below, above] = [under, over].map((canvas) => {
      const context = canvas.getContext("2d");
      context.setTransform(room.scale, 0, 0, room.scale, 0, 0);
      context.clearRect(0, 0, room.width, room.height);
      context.font = `12px ${colours.type}`;
      return context;
    });
    const parts = shown();
    room.keepBar(picture.size[0] ? Math.ceil(scaleRoom(above, picture)) + BAR_GAP : 0);
    const look = camera(angles);
    const projected = { look, ...room.projection(look, zoom) };
    handles.show(parts.slices && !parts.pieces);
    if (!picture.size[0]) return projected;
    const box = { left: room.width - room.bar, top: ABOVE_BAR, bottom: room.height - BELOW_BAR, right: room.width - 4 };
    const levels = picture.signed ? [0.5 - parts.level / 2, 0.5 + parts.level / 2] : [parts.level];
    drawScale(above, box, colours, picture, parts.surface && !parts.pieces ? levels : []);
    if (!renderer) {
      const inner = { width: room.width - room.bar - BAR_GAP, height: room.height };
      handles.put(drawFlat(above, inner, colours, picture, parts.position));
      return projected;
    }
    const edges = axisEdges(projected.toPage);
    if (!parts.pieces) {
      drawEdges(below, look, projected.toPage, colours.soft, false);
      drawEdges(above, look, projected.toPage, colours.soft, true);
    }
    drawAxisNames(above, edges, colours, !parts.pieces, parts.position);
    handles.put(edges.map(({ place }) => place));
    return projected;
  }

  function drawn(chosen, milliseconds) {
    paints += 1;
    [quality, spent] = [chosen, milliseconds];
    wire.painted(seq);
    if (picture.live) report.call();
    else report.now();
  }

  // What is on the canvas, in words, and in numbers for whoever tests or measures.
  function tell() {
    const { title = "", note: reported = "", quantity = "", iteration = 0, size, low = 0, high = 0 } = picture;
    write(heading, title);
    write(note, size[0] ? reported : "");
    write(hollow, size[0] ? "" : reported);
    hollow.hidden = Boolean(size[0] || !reported);
    over.setAttribute("aria-label", inWords(picture, shown()));
    Object.assign(over.dataset, {
      ...{ title, quantity, iteration, low, high, frames, paints, cells: size.join(" "), pieces: still.pieces ?? 0 },
      mode: renderer ? "cube" : "flat",
      software: Boolean(renderer?.software),
      quality: quality.toFixed(2),
      ms: spent.toFixed(1),
      zoom: zoom.toFixed(2),
      azimuth: angles.azimuth.toFixed(1),
      elevation: angles.elevation.toFixed(1),
    });
  }

  const forgotten = [onThemeChange(room.measure), follow(model, ["position"], moved), follow(model, ["height"], room.measure)];
  return () => {
    for (const forget of forgotten) forget();
    report.cancel();
    for (const part of [feed, turn, controls, film, others, room, stage, wire]) part.close();
    renderer?.close();
    root.remove();
  };
}

// The colour of glass, between ink and paper: it dims a light page a little and brightens a dark one.
function glassOf({ soft, paper }) {
  const ground = numbersOf(paper);
  return numbersOf(soft).map((part, place) => 0.6 * part + 0.4 * ground[place]);
}

// A colour of the page as red, green and blue, 0 to 1.
function numbersOf(colour) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.subarray(0, 3)].map((part) => part / 255);
}

// What the kernel sends to the 3D view, taken apart: what stays as it is, and pictures, of an active run several at once.

// still(reported) and picture(reported) are called with each in its time; a picture comes with its `bytes`.
function volumeFeed(still, picture) {
  let [waiting, next] = [[], 0];

  function turnOver(each) {
    const shown = waiting.shift();
    if (waiting.length) next = setTimeout(() => turnOver(each), each);
    picture(shown);
  }

  return {
    take(content, buffer) {
      const bytes = copied(buffer, Uint8Array);
      if (content.part === "still") {
        still(parts(content, bytes));
        return;
      }
      clearTimeout(next);
      let used = 0;
      const own = (length) => bytes.subarray(used, (used += length));
      const before = content.before.map((reported) => ({ ...reported, bytes: own(reported.bytes) }));
      waiting = [...before, { ...content, bytes: own(bytes.length - used) }];
      turnOver(content.milliseconds / waiting.length);
    },
    close: () => clearTimeout(next),
  };
}

// The boxes of the pieces, seven numbers each, their labels, and the surfaces of the phases.
function parts(content, bytes) {
  const boxes = 28 * content.pieces;
  const labels = boxes + 2 * content.labelled.reduce((product, cells) => product * cells, 1);
  return {
    ...content,
    boxes: new Float32Array(bytes.slice(0, boxes).buffer),
    labels: new Uint16Array(bytes.slice(boxes, labels).buffer),
    surfaces: bytes.subarray(labels),
  };
}

export default { render };
