import { decadeTicks, linearTicks } from "../ui/axes.js";
import { powerOfTen } from "../ui/numbers.js";
import { onThemeChange, theme } from "../ui/theme.js";

// A small convergence plot of a whole run as an SVG picture; iterations that were stepped through are in colour.

// The name space of SVG. It is joined from parts, since scripts of the page may contain no address.
const SVG = ["http:", "", "www.w3.org", "2000", "svg"].join("/");
// Units are pixels, on a projector larger ones: letters have one size, however wide the picture is.
const HEIGHT = 220;
const MARGINS = { left: 42, top: 22, right: 8, bottom: 38 };
const NARROWEST = 200;

// Adds a plot to an element. Returns the function that draws it, and one that ends it.
export function smallPlot(host) {
  const picture = shape(host, "svg", { role: "img", class: "wb-small" });
  let last = null;
  const again = () => last && draw(last);
  const observer = new ResizeObserver(again);
  observer.observe(picture);
  const forget = onThemeChange(again);
  const close = () => {
    observer.disconnect();
    forget();
  };
  return [draw, close];

  // shown: the last iteration that was stepped through, -1 for none. recurrence, true: relative residuals by
  // right-hand side and iteration, of the recurrence as curves, and recomputed ones as rings.
  function draw(content) {
    last = content;
    const { shown, recurrence: curves, true: exact } = content;
    const width = Math.max(NARROWEST, Math.round(picture.getBoundingClientRect().width / theme(host).zoom));
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    // The area of the curves; labels have the margins around it.
    const box = { left: MARGINS.left, top: MARGINS.top, right: width - MARGINS.right, bottom: HEIGHT - MARGINS.bottom };
    const known = [...curves, ...exact].flat().filter((value) => value > 0);
    if (!known.length) return;
    // Exponents of the axis. The small number makes room above a residual that is a power of ten itself.
    const [low, high] = [Math.floor(Math.log10(Math.min(...known))), Math.ceil(Math.log10(Math.max(...known)) + 1e-9)];
    const end = Math.max(1, curves[0].length - 1);
    const toX = (k) => box.left + (k / end) * (box.right - box.left);
    const toY = (value) => box.top + ((high - Math.log10(value)) / Math.max(1, high - low)) * (box.bottom - box.top);
    picture.replaceChildren();
    for (const exponent of decadeTicks(low, high, 5)) {
      const y = toY(10 ** exponent);
      shape(picture, "line", { x1: box.left, x2: box.right, y1: y, y2: y, class: "wb-rule" });
      write(powerOfTen(exponent), box.left - 6, y + 4, "end");
    }
    for (const k of linearTicks(0, end, 6).filter(Number.isInteger)) write(String(k), toX(k), box.bottom + 15, "middle");
    write("iteration", (box.left + box.right) / 2, HEIGHT - 4, "middle");
    write("‖r‖ / ‖b‖", 0, 10, "start");
    curves.forEach((recurrence, column) => {
      path(recurrence, "wb-tocome");
      path(recurrence.slice(0, shown + 1), "wb-walked");
      if (recurrence[shown] > 0) shape(picture, "circle", { cx: toX(shown), cy: toY(recurrence[shown]), r: 5, class: "wb-here" });
      for (let k = 0; k <= shown; k += 1) {
        if (exact[column][k] > 0) shape(picture, "circle", { cx: toX(k), cy: toY(exact[column][k]), r: 2.6, class: "wb-ring" });
      }
    });
    const values = curves.map((recurrence) => recurrence[shown]).join(", ");
    const reported = shown < 0 ? "Nothing has run yet." : `Relative residual ${values} after iteration ${shown}.`;
    picture.setAttribute("aria-label", `Convergence. ${reported}`);

    function path(samples, kind) {
      const points = samples.map((value, k) => (value > 0 ? `${toX(k)},${toY(value)}` : "")).filter(Boolean);
      shape(picture, "polyline", { points: points.join(" "), class: kind });
    }

    function write(text, x, y, anchor) {
      const made = shape(picture, "text", { x, y, "text-anchor": anchor });
      made.textContent = text;
      return made;
    }
  }
}

// A child of an SVG picture, or a picture itself.
export function shape(host, kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  host.append(made);
  return made;
}
