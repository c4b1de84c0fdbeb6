import { onPage } from "../kit/theme.js";
import { link, copied, MISSED } from "../transport/link.js";
import { short } from "../kit/axes.js";
import { drawPolyline, drawMarker } from "./curve.js";
import { Plot } from "./plot.js";
import { startDrawing } from "../transport/engine.js";
import { element, focusable, keepInStep } from "../kit/page.js";
import { toleranceGrip } from "./grip.js";

// The convergence view: the plot on a canvas, and around it what needs a page, the legend, the readout and words for those
// who cannot see it.

function render({ model, el }) {
  const root = element("div", "wb-view wb-convergence");
  const plot = element("div", "wb-plot");
  const canvas = focusable();
  const readout = element("div", "wb-readout");
  const legend = element("ul", "wb-legend");
  canvas.style.height = `${model.get("height")}px`;
  readout.hidden = true;
  plot.append(canvas, readout);
  root.append(plot, legend);
  el.append(root);

  const curves = new Map();
  let synchronous = false;
  let legendText = "";
  let colours = null;
  const hear = { painted, readout: showReadout, scale: (told) => grip.scaled(told) };
  const engine = startDrawing(canvas, model.get("_worker"), Plot, (report) => hear[report.kind](report));
  const grip = toleranceGrip(canvas, plot, engine, () => model.get("movable"), (message) => wire.say(message));
  const wire = link(model, apply, () => canvas.clientWidth > 0);

  function apply(content, buffer) {
    if (content.reset) {
      curves.clear();
      synchronous = true;
    }
    const fresh = copied(buffer, Float32Array);
    synchronous &&= inOrder(content, fresh);
    if (!synchronous) return MISSED;
    engine.post({ kind: "news", content, fresh }, [fresh.buffer]);
    grip.heard(content);
    showLegend();
    return anyLive();
  }

  // Notes what has come; false when something before it is missing.
  function inOrder(content, fresh) {
    // Positions follow the residuals of a curve where its samples' numbers are not their positions.
    const columns = content.axis === "iterations" ? 1 : 2;
    let used = 0;
    for (const told of content.curves) {
      const curve = curves.get(told.key) ?? { total: 0, last: NaN };
      if (curve.total !== told.first) return false;
      const last = told.count ? fresh[used + told.count - 1] : curve.last;
      used += columns * told.count;
      curves.set(told.key, { ...told, total: told.first + told.count, last });
    }
    return true;
  }

  function anyLive() {
    return [...curves.values()].some((curve) => curve.live);
  }

  // What is on the canvas, in words, and in numbers for whoever tests or measures.
  function painted({ seq, count, curves: number, live, paints, axis, setup, tolerance, first }) {
    wire.painted(seq);
    Object.assign(canvas.dataset, { count, curves: number, live, paints, axis, setup, tolerance: tolerance ?? "" });
    Object.assign(canvas.dataset, { first: first.map(([label]) => label).join("; "), at: first[0]?.[1] ?? "" });
    const parts = [...curves.values()].map(({ label, total, last, live: goes }) => {
      const state = `${goes ? "running" : "at rest"}, iteration ${total - 1}, relative residual ${short(last)}`;
      return `${label}: ${total ? state : "setting up"}`;
    });
    const keys = model.get("movable") ? ", Shift with the up and down arrow keys moves it" : "";
    if (tolerance) parts.push(`Tolerance ${short(tolerance)}${keys}`);
    if (first.length) parts.push(`First there: ${canvas.dataset.first}`);
    canvas.setAttribute("aria-label", `Convergence. ${parts.join(". ") || "No run yet"}.`);
  }

  function showReadout({ k, rows, more }) {
    readout.hidden = rows === null;
    if (!rows) return;
    readout.replaceChildren(element("div", "", k));
    for (const { key, colour, text, nearest } of rows) {
      const row = element("div", nearest ? "wb-nearest" : "", `${text}  ${curves.get(key)?.label ?? ""}`);
      row.style.setProperty("--wb-curve", colour);
      readout.append(row);
    }
    if (more) readout.append(element("p", "", `and ${more} more`));
  }

  function showLegend() {
    if (!colours) return;
    const shown = [...curves.values()];
    const text = JSON.stringify([colours.ink, ...shown.map(({ key, label, rings }) => [key, label, rings.length > 0])]);
    if (text === legendText) return;
    legendText = text;
    legend.replaceChildren(
      ...shown.map((curve) => {
        const entry = element("li", "");
        entry.append(swatch(curve, colours), element("span", "", curve.label));
        return entry;
      }),
    );
    if (shown.some(({ rings }) => rings.length)) legend.append(element("li", "", "◯ true residual, computed afresh"));
  }

  model.on("change:movable", grip.show);
  const stage = keepInStep(canvas, engine, () => model.get("height"), (found) => {
    colours = found;
    showLegend();
  });
  const point = (cursor) => grip.held || engine.post({ kind: "point", cursor });
  const leave = () => point(null);
  canvas.addEventListener("pointermove", (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    point({ x: event.clientX - left, y: event.clientY - top });
  });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Escape") leave();
    if (by === undefined) return;
    event.preventDefault();
    point({ by });
  });
  return () => {
    model.off("change:movable", grip.show);
    grip.close();
    stage.close();
    wire.close();
    engine.close();
    root.remove();
  };
}

function swatch({ colour, dash, marker }, colours) {
  const canvas = element("canvas", "wb-swatch");
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [36 * scale, 14 * scale];
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  drawPolyline(context, [1, 7, 35, 7], onPage(colour, colours), dash);
  drawMarker(context, marker, 18, 7, onPage(colour, colours), colours.paper);
  return canvas;
}

export default { render };
