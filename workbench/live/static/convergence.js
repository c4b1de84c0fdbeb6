import { theme, onPage, onThemeChange } from "./theme.js";
import { surface, wipe } from "./surface.js";
import { atMost } from "./throttle.js";
import { link, copied } from "./link.js";
import { drawAxes, linearTicks, decadeTicks, powerOfTen, grouped, short, roundUp, line, label } from "./axes.js";
import { Samples, outline, lengthOf, drawPolyline, drawMarker } from "./curve.js";

// The convergence plot: relative residual, logarithmic, against iterations; all runs in one picture.

const MARGIN = { left: 64, top: 10, right: 24, bottom: 42 };
const MARKS = 8;
const SPOKEN_MS = 1000;
const TOLD_MS = 200;

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
  // How many paints what came last is spread over, how many of them are left, and the timer of the next.
  let pace = { paints: 1, milliseconds: 0 };
  let left = 0;
  let next = 0;
  let paints = 0;
  let legendText = "";
  // What the picture on the canvas depends on beside the samples; as long as it stays, curves are only drawn on.
  let drawnAs = "";
  let frame = null;
  const spoken = atMost(SPOKEN_MS, speak);
  const told = atMost(TOLD_MS, tell);
  const view = surface(plot, () => model.get("height"), draw);
  plot.append(readout);
  const { canvas } = view;
  const wire = link(model, apply, view.invalidate);

  function apply(content, buffer) {
    if (content.reset) {
      curves.clear();
      synchronous = true;
      drawnAs = "";
    }
    if (!synchronous) return anyLive();
    const fresh = copied(buffer, Float32Array);
    let used = 0;
    for (const news of content.curves) {
      const curve = curves.get(news.key) ?? { samples: new Samples(), shown: 0 };
      if (curve.samples.count !== news.first) {
        synchronous = false;
        wire.ask();
        return true;
      }
      curve.samples.append(fresh.subarray(used, used + news.count));
      used += news.count;
      curves.set(news.key, Object.assign(curve, news));
    }
    pace = content.pace;
    left = content.reset ? 1 : pace.paints;
    reveal();
    return anyLive();
  }

  // Shows part of what has come while runs go on, and all of it once they are at rest.
  function reveal() {
    clearTimeout(next);
    let waiting = false;
    for (const curve of curves.values()) {
      const rest = curve.samples.count - curve.shown;
      curve.shown += curve.live && left > 1 ? Math.ceil(rest / left) : rest;
      waiting ||= curve.shown < curve.samples.count;
    }
    left -= 1;
    if (waiting) next = setTimeout(reveal, pace.milliseconds);
    view.invalidate();
  }

  function anyLive() {
    return [...curves.values()].some((curve) => curve.live);
  }

  function draw(context, width, height, blank) {
    if (width > 0) picture(context, width, height, blank);
    wire.painted();
    told.call();
    spoken.call();
  }

  // For whoever tests or measures: what is painted, in numbers.
  function tell() {
    const all = [...curves.values()];
    Object.assign(canvas.dataset, {
      count: all.at(-1)?.shown ?? 0,
      curves: all.length,
      live: anyLive(),
      paints,
    });
  }

  function picture(context, width, height, blank) {
    const shown = [...curves.values()];
    const fresh = shown.some((curve) => curve.drawn !== curve.shown);
    const [low, high] = exponents(shown);
    const longest = shown.reduce((most, curve) => Math.max(most, curve.samples.count - 1), 10);
    const grows = shown.some((curve) => curve.live && curve.samples.count - 1 === longest);
    const iterations = roundUp(longest, grows);
    const states = shown.map(({ key, label, live, rings, tolerance }) => [key, label, live, rings.length, tolerance]);
    const as = JSON.stringify([width, height, low, high, iterations, states]);
    // While the pointer reads out values they lie over the curves.
    if (blank || cursor || as !== drawnAs) {
      frame = frameOf(width, height, low, high, iterations);
      drawAnew(context, width, height, shown);
      drawnAs = cursor ? "" : as;
    } else {
      within(context, () => shown.forEach((curve) => drawOn(context, curve)));
    }
    paints += fresh;
  }

  // Where the axes lie, and how values become pixels.
  function frameOf(width, height, low, high, iterations) {
    const box = { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    return {
      box,
      low,
      high,
      iterations,
      colours: theme(canvas),
      apart: Math.max(1, Math.round(iterations / MARKS)),
      toX: (k) => box.left + (k / iterations) * (box.right - box.left),
      toY: (value) => box.bottom - ((Math.log10(value) - low) / (high - low)) * (box.bottom - box.top),
    };
  }

  function drawAnew(context, width, height, shown) {
    const { box, low, high, iterations, colours, toX, toY } = frame;
    wipe(context, colours, width, height);
    const most = Math.max(3, Math.min(8, (box.right - box.left) / 80));
    drawAxes(context, box, colours, {
      xTicks: linearTicks(0, iterations, most).map((k) => [toX(k), grouped(k)]),
      yTicks: decadeTicks(low, high, 9).map((exponent) => [toY(10 ** exponent), powerOfTen(exponent)]),
      xTitle: "iteration",
      yTitle: "relative residual ‖r‖ / ‖b‖",
      grid: true,
    });
    const tolerances = [...new Set(shown.map((curve) => curve.tolerance))].filter((tolerance) => tolerance > 0);
    drawTolerances(context, tolerances);
    within(context, () => {
      for (const curve of shown) {
        Object.assign(curve, { drawn: 0, length: 0 });
        drawOn(context, curve);
        drawRings(context, curve);
      }
    });
    drawCursor(context, shown);
    drawLegend(shown, colours);
  }

  function within(context, act) {
    const { left, top, right, bottom } = frame.box;
    context.save();
    context.beginPath();
    context.rect(left, top - 6, right - left + 6, bottom - top + 12);
    context.clip();
    act();
    context.restore();
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

  // The samples that are not on the canvas yet, joined to the last one that is.
  function drawOn(context, curve) {
    const { samples, shown, colour, dash, marker, drawn } = curve;
    if (drawn === shown) return;
    const { toX, toY, apart, colours } = frame;
    const own = onPage(colour, colours);
    const points = outline(samples, toX, toY, Math.max(0, drawn - 1), shown);
    drawPolyline(context, points, own, dash, curve.length);
    curve.length += lengthOf(points);
    for (let k = Math.ceil(drawn / apart) * apart; k < shown; k += apart) {
      if (samples.values[k] > 0) drawMarker(context, marker, toX(k), toY(samples.values[k]), own, colours.paper);
    }
    curve.drawn = shown;
  }

  function drawRings(context, { rings }) {
    for (const [k, value] of rings) {
      if (!(value > 0)) continue;
      context.strokeStyle = frame.colours.ink;
      context.lineWidth = 1.2;
      context.beginPath();
      context.arc(frame.toX(k), frame.toY(value), 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  function drawTolerances(context, tolerances) {
    const { box, colours, toY } = frame;
    for (const tolerance of tolerances) {
      const y = toY(tolerance);
      context.save();
      context.setLineDash([2, 3]);
      context.lineWidth = 1.2;
      line(context, colours.soft, box.left, y, box.right, y);
      context.restore();
      const text = `tolerance ${short(tolerance)}`;
      label(context, colours.soft, text, box.right - 6, y + 4, "right", "top", colours.paper);
    }
  }

  function drawCursor(context, shown) {
    const { box, colours, iterations, toX, toY } = frame;
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
    for (const { samples, shown: seen, colour, marker, label } of shown) {
      const value = samples.values[cursor.k];
      if (cursor.k >= seen || !(value > 0)) continue;
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

  function speak() {
    const parts = [...curves.values()].map(({ label, samples, live }) => {
      const last = samples.values[samples.count - 1];
      const state = live ? "running" : "at rest";
      return samples.count
        ? `${label}: ${state}, iteration ${samples.count - 1}, relative residual ${short(last)}`
        : `${label}: setting up`;
    });
    canvas.setAttribute("aria-label", `Convergence. ${parts.join(". ") || "No run yet"}.`);
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
  const forget = onThemeChange(() => {
    drawnAs = "";
    view.invalidate();
  });
  return () => {
    forget();
    clearTimeout(next);
    spoken.cancel();
    told.cancel();
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
