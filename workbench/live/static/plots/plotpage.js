import { helpButton } from "../ui/helpbutton.js";
import { element, focusable, keepInStep, press } from "../ui/page.js";
import { linked } from "../ui/linked.js";
import { onPage } from "../ui/theme.js";
import { startDrawing, workerSource } from "../transport/engine.js";
import { whenNew } from "../transport/throttle.js";
import { drawMarker, drawPolyline } from "./curve.js";
import { HELP, plotGestures } from "./plotgestures.js";

// What every plot has around its canvas: the readout, the legend with which curves are hidden, and buttons.

const AWAY_FROM_POINTER = 14;

// Drawing: the class that draws. The model's height is in pixels, 0 follows the window.
// hear: what to call with reports of each kind; held(event): whether another hand has the pointer.
export function plotPage(el, name, { model, Drawing, hear, held = () => false }) {
  const root = element("div", `wb-view ${name}`);
  const plot = element("div", "wb-plot");
  const canvas = focusable();
  const readout = element("div", "wb-readout");
  const bar = element("div", "wb-plotbar");
  const legend = element("ul", "wb-legend");
  const [help, ask] = helpButton(canvas, HELP, "plot");
  readout.hidden = true;
  plot.append(canvas, bar, readout);
  root.append(plot, help, legend);
  el.append(root);
  const height = model.get("height");
  if (height) canvas.style.height = `${height}px`;
  else canvas.classList.add("wb-follows");

  let state = { zoomed: false, legend: [], box: null };
  let colours = null;
  const reports = { ...hear, painted, readout: showReadout };
  const engine = startDrawing(canvas, workerSource(model, Drawing), Drawing, (report) => reports[report.kind](report));
  plotGestures(canvas, engine, () => state, held);
  const logs = ["x", "y"].map((way) => {
    const made = press(`log ${way}`, `logarithmic or linear ${way}-axis`, () => engine.post({ kind: "logarithmic", way, on: !state[`${way}Log`] }));
    made.hidden = true;
    return made;
  });
  const all = press("Show all", "the whole picture again (0, or double click)", () => engine.post({ kind: "reset" }));
  all.hidden = true;
  bar.append(all, ...logs, ask);

  function painted(reported) {
    state = reported;
    all.hidden = !reported.zoomed;
    logs.forEach((button, place) => button.setAttribute("aria-pressed", String(reported[`${"xy"[place]}Log`])));
    const { seq, paints, xLow, xHigh, yLow, yHigh, xTitle, yTitle, xLog, yLog, zoomed, slope, box, named } = reported;
    const shown = { paints, xLow, xHigh, yLow, yHigh, xTitle, yTitle, xLog, yLog, zoomed, slope, live: reported.live };
    Object.assign(canvas.dataset, shown, { xTicks: reported.xTicks.join("|"), box: box ? [box.left, box.top, box.right, box.bottom].map(Math.round).join() : "" });
    canvas.dataset.names = JSON.stringify(named.map(({ key, left, top, right, bottom }) => ({ key, x: (left + right) / 2, y: (top + bottom) / 2 })));
    showLegend(reported.legend, reported.whole, colours);
    hear.painted(reported, seq);
  }

  const showLegend = whenNew((entries, whole, palette) => {
    if (!palette) return;
    legend.classList.toggle("wb-aside", whole);
    const made = entries.map((entry) => {
      const item = element("li", entry.atEnd ? "wb-entry wb-atend" : "wb-entry");
      const button = press("", "show or hide this curve", () => engine.post({ kind: "toggle", key: entry.key }));
      button.className = "wb-name-of-curve";
      button.setAttribute("aria-pressed", String(!entry.off));
      button.append(swatch(entry, palette), element("span", "", entry.name));
      item.append(button);
      return item;
    });
    for (const old of legend.querySelectorAll(".wb-entry")) old.remove();
    legend.prepend(...made);
  });

  const others = linked(model, ({ iteration, kernel }) => {
    const nothing = iteration === null && kernel === null;
    engine.post({ kind: "point", cursor: nothing ? null : { linked: true, value: iteration ?? NaN, key: kernel } });
  });

  function showReadout({ at, title, lines, rows, more, iteration, key }) {
    others.tell(iteration, key);
    readout.hidden = !at;
    if (!at) return;
    readout.replaceChildren(element("div", "wb-readout-title", title), ...lines.map((text) => element("div", "", text)));
    for (const { name: curve, colour, text, nearest } of rows) {
      const row = element("div", nearest ? "wb-row wb-nearest" : "wb-row");
      row.style.setProperty("--wb-curve", colour);
      row.append(element("span", "", curve), element("b", "", text));
      readout.append(row);
    }
    if (more) readout.append(element("p", "", `and ${more} more`));
    placeReadout(at);
  }

  // Next to the pointer, and never under it.
  function placeReadout({ x, y }) {
    const [wide, high] = [readout.offsetWidth, readout.offsetHeight];
    const right = x + AWAY_FROM_POINTER;
    const left = right + wide <= canvas.clientWidth ? right : Math.max(0, x - AWAY_FROM_POINTER - wide);
    const covers = left < x && left + wide > x;
    const top = covers ? y + AWAY_FROM_POINTER : Math.max(0, Math.min(y - high / 2, canvas.clientHeight - high));
    Object.assign(readout.style, { left: `${left}px`, top: `${top}px` });
  }

  const stage = keepInStep(canvas, engine, () => canvas.clientHeight, (found) => {
    colours = found;
    showLegend(state.legend, state.whole, colours);
  });
  return {
    root, plot, canvas, legend, engine, bar,
    get colours() {
      return colours;
    },
    // Which axes may be turned between logarithmic and linear.
    offer(ways) {
      logs.forEach((button, place) => {
        button.hidden = !ways.includes("xy"[place]);
      });
    },
    close() {
      others.close();
      stage.close();
      engine.close();
      root.remove();
    },
  };
}

// A piece of a curve with its mark, a mark alone, or a patch.
function swatch({ colour, faint, dash, marker, filled, only, patch }, colours) {
  const canvas = element("canvas", "wb-swatch");
  const scale = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [40 * scale, 14 * scale];
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const own = faint && !patch ? colours.faint : onPage(colour, colours);
  context.fillStyle = own;
  // A pale band is as pale as in the plot.
  if (patch && faint) context.globalAlpha = 0.2;
  if (patch) context.fillRect(10, 1, 20, 12);
  if (!patch && !only) drawPolyline(context, [1, 7, 39, 7], own, dash);
  if (!patch && marker) drawMarker(context, marker, 20, 7, own, filled ? own : colours.paper);
  return canvas;
}
