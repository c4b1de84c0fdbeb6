import { theme, onPage, onThemeChange } from "./theme.js";
import { surface } from "./surface.js";
import { link, copied } from "./link.js";
import { drawAxes, linearTicks, decadeTicks, powerOfTen, grouped, short, roundUp, line, label } from "./axes.js";
import { Samples, outline, drawPolyline, drawMarker } from "./curve.js";

// The convergence plot: relative residual, logarithmic, against iterations; all runs in one picture.

const MARGIN = { left: 64, top: 10, right: 24, bottom: 42 };
const MARKS = 8;
const SPOKEN_MS = 1000;

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "wb-view wb-convergence";
  el.append(root);
  const plot = document.createElement("div");
  plot.className = "wb-plot";
  const readout = document.createElement("div");
  readout.className = "wb-readout";
  readout.hidden = true;
  const legend = document.createElement("ul");
  legend.className = "wb-legend";
  root.append(plot, legend);

  const curves = new Map();
  let synchronous = false;
  let cursor = null;
  let paints = 0;
  let spoken = -SPOKEN_MS;
  let pending = 0;
  let legendText = "";
  const view = surface(plot, () => model.get("height"), draw);
  plot.append(readout);
  const { canvas } = view;
  const wire = link(model, apply, view.invalidate);

  function apply(content, buffer) {
    if (content.reset) {
      curves.clear();
      synchronous = true;
    }
    if (!synchronous) return anyLive();
    const fresh = copied(buffer, Float32Array);
    let used = 0;
    for (const told of content.curves) {
      const curve = curves.get(told.key) ?? { samples: new Samples() };
      if (curve.samples.count !== told.first) {
        synchronous = false;
        wire.ask();
        return true;
      }
      curve.samples.append(fresh.subarray(used, used + told.count));
      used += told.count;
      curves.set(told.key, Object.assign(curve, told));
    }
    return anyLive();
  }

  function anyLive() {
    return [...curves.values()].some((curve) => curve.live);
  }

  function draw(context, width, height) {
    if (width > 0) picture(context, width, height);
    if (wire.painted()) paints += 1;
    const last = [...curves.values()].at(-1);
    Object.assign(canvas.dataset, {
      count: last?.samples.count ?? 0,
      curves: curves.size,
      points: [...curves.values()].reduce((sum, curve) => sum + curve.samples.count, 0),
      live: anyLive(),
      paints,
    });
    speak();
  }

  function picture(context, width, height) {
    const colours = theme(canvas);
    const box = { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    const shown = [...curves.values()];
    const [low, high] = exponents(shown);
    const iterations = roundUp(Math.max(10, ...shown.map((curve) => curve.samples.count - 1)));
    const toX = (k) => box.left + (k / iterations) * (box.right - box.left);
    const toY = (value) => box.bottom - ((Math.log10(value) - low) / (high - low)) * (box.bottom - box.top);
    drawAxes(context, box, colours, {
      xTicks: linearTicks(0, iterations, Math.max(3, Math.min(8, (box.right - box.left) / 80))).map((k) => [toX(k), grouped(k)]),
      yTicks: decadeTicks(low, high, 9).map((exponent) => [toY(10 ** exponent), powerOfTen(exponent)]),
      xTitle: "iteration",
      yTitle: "relative residual ‖r‖ / ‖b‖",
      grid: true,
    });
    const tolerances = [...new Set(shown.map((curve) => curve.tolerance))].filter((tolerance) => tolerance > 0);
    drawTolerances(context, box, colours, tolerances.map(toY));
    context.save();
    context.beginPath();
    context.rect(box.left, box.top - 6, box.right - box.left + 6, box.bottom - box.top + 12);
    context.clip();
    for (const curve of shown) drawCurve(context, curve, colours, toX, toY);
    context.restore();
    for (const tolerance of tolerances) {
      const text = `tolerance ${short(tolerance)}`;
      label(context, colours.soft, text, box.right - 6, toY(tolerance) - 3, "right", "bottom", colours.paper);
    }
    drawCursor(context, box, colours, shown, toX, toY, iterations);
    drawLegend(shown, colours);
  }

  function exponents(shown) {
    let [low, high] = [Infinity, -Infinity];
    const widen = (value) => {
      if (!(value > 0) || value === Infinity) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const { samples, tolerance } of shown) [samples.low, samples.high, tolerance].forEach(widen);
    if (low > high) return [-6, 0];
    const bounds = [Math.floor(Math.log10(low) - 0.05), Math.ceil(Math.log10(high) + 0.05)];
    return bounds[0] === bounds[1] ? [bounds[0], bounds[0] + 1] : bounds;
  }

  function drawCurve(context, curve, colours, toX, toY) {
    const { samples, colour, dash, marker, rings } = curve;
    const own = onPage(colour, colours);
    const points = outline(samples, toX, toY);
    drawPolyline(context, points, own, dash);
    const apart = Math.max(1, Math.ceil(samples.count / MARKS));
    for (let k = 0; k < samples.count; k += apart) {
      if (samples.values[k] > 0) drawMarker(context, marker, toX(k), toY(samples.values[k]), own, colours.paper);
    }
    for (const [k, value] of rings) {
      if (!(value > 0)) continue;
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.2;
      context.beginPath();
      context.arc(toX(k), toY(value), 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  function drawTolerances(context, box, colours, heights) {
    context.save();
    context.setLineDash([2, 3]);
    context.lineWidth = 1.2;
    for (const y of heights) line(context, colours.soft, box.left, y, box.right, y);
    context.restore();
  }

  function drawCursor(context, box, colours, shown, toX, toY, iterations) {
    const longest = Math.max(0, ...shown.map((curve) => curve.samples.count - 1));
    readout.hidden = cursor === null || longest === 0;
    if (readout.hidden) return;
    if (cursor.x !== undefined) {
      cursor.k = Math.round(((cursor.x - box.left) / (box.right - box.left)) * iterations);
      delete cursor.x;
    }
    cursor.k = Math.max(0, Math.min(longest, cursor.k));
    line(context, colours.soft, toX(cursor.k), box.top, toX(cursor.k), box.bottom);
    readout.replaceChildren(element("div", `iteration ${grouped(cursor.k)}`));
    for (const { samples, colour, marker, label } of shown) {
      const value = samples.values[cursor.k];
      if (cursor.k >= samples.count || !(value > 0)) continue;
      drawMarker(context, marker, toX(cursor.k), toY(value), onPage(colour, colours), colours.paper, 5);
      const row = element("div", `${short(value)}  ${label}`);
      row.style.setProperty("--wb-curve", onPage(colour, colours));
      readout.append(row);
    }
  }

  function drawLegend(shown, colours) {
    const text = JSON.stringify([colours.ink, ...shown.map(({ key, label, rings }) => [key, label, rings.length > 0])]);
    if (text === legendText) return;
    legendText = text;
    legend.replaceChildren(
      ...shown.map((curve) => {
        const entry = element("li", "");
        entry.append(swatch(curve, colours), element("span", curve.label));
        return entry;
      }),
    );
    if (shown.some(({ rings }) => rings.length)) legend.append(element("li", "◯ true residual, computed afresh"));
  }

  // Read out at most once a second, and the last state always.
  function speak() {
    const wait = spoken + SPOKEN_MS - performance.now();
    if (wait > 0) {
      pending ||= setTimeout(() => {
        pending = 0;
        speak();
      }, wait);
      return;
    }
    spoken = performance.now();
    const told = [...curves.values()].map(({ label, samples, live }) => {
      const last = samples.values[samples.count - 1];
      const state = live ? "running" : "at rest";
      return samples.count
        ? `${label}: ${state}, iteration ${samples.count - 1}, relative residual ${short(last)}`
        : `${label}: setting up`;
    });
    canvas.setAttribute("aria-label", `Convergence. ${told.join(". ") || "No run yet"}.`);
  }

  const place = (event) => {
    cursor = { x: event.clientX - canvas.getBoundingClientRect().left };
    view.invalidate();
  };
  const leave = () => {
    cursor = null;
    view.invalidate();
  };
  const key = (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (event.key === "Escape") leave();
    if (!(event.key in steps)) return;
    event.preventDefault();
    cursor = { k: (cursor?.k ?? 0) + steps[event.key] };
    view.invalidate();
  };
  canvas.addEventListener("pointermove", place);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", key);
  const forget = onThemeChange(view.invalidate);
  return () => {
    forget();
    clearTimeout(pending);
    wire.close();
    view.close();
  };
}

function element(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

function swatch({ colour, dash, marker }, colours) {
  const canvas = document.createElement("canvas");
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [36 * scale, 14 * scale];
  canvas.className = "wb-swatch";
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  drawPolyline(context, [1, 7, 35, 7], onPage(colour, colours), dash);
  drawMarker(context, marker, 18, 7, onPage(colour, colours), colours.paper);
  return canvas;
}

export default { render };
