import { link, copied, MISSED } from "../transport/link.js";
import { element } from "../ui/page.js";
import { follow } from "../ui/traits.js";
import { ConvergencePlot } from "./convergenceplot.js";
import { toleranceGrip } from "./grip.js";
import { typeset } from "../ui/numbers.js";
import { plotPage } from "./plotpage.js";

// The convergence view: the plot, the grip of its tolerance, and words for those who cannot see it.

function render({ model, el }) {
  const curves = new Map();
  let synchronous = false;
  const page = plotPage(el, "wb-convergence", {
    model,
    Drawing: ConvergencePlot,
    hear: { painted, scale: (reported) => grip.scaled(reported), picked() {} },
    held: (event) => grip.holds(event),
  });
  const { canvas, engine } = page;
  const grip = toleranceGrip(canvas, page.plot, engine, () => model.get("movable"), (message) => wire.say(message));
  const wire = link(model, apply, () => canvas.clientWidth > 0);
  const rings = element("li", "", "◯ true residual ‖b − Ax‖ / ‖b‖");
  rings.hidden = true;
  page.legend.append(rings);
  page.offer("xy");

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
    rings.hidden = ![...curves.values()].some((curve) => curve.rings.length);
    return [...curves.values()].some((curve) => curve.live);
  }

  // Notes what has come; false when something before it is missing.
  function inOrder(content, fresh) {
    // Positions follow the residuals of a curve where its samples' numbers are not their positions.
    const columns = content.axis === "iterations" ? 1 : 2;
    let used = 0;
    for (const reported of content.curves) {
      const curve = curves.get(reported.key) ?? { total: 0, last: NaN };
      if (curve.total !== reported.first) return false;
      const last = reported.count ? fresh[used + reported.count - 1] : curve.last;
      used += columns * reported.count;
      curves.set(reported.key, { ...reported, total: reported.first + reported.count, last });
    }
    return true;
  }

  // What is on the canvas, in words, and in numbers for whoever tests or measures.
  function painted({ count, curves: number, axis, setup, tolerance, first, label }, seq) {
    wire.painted(seq);
    Object.assign(canvas.dataset, { count, curves: number, axis, setup, label, tolerance: tolerance ?? "" });
    Object.assign(canvas.dataset, { first: first.map(([name]) => name).join("; "), at: first[0]?.[1] ?? "" });
    const parts = [...curves.values()].map(({ label: name, total, last, live: goes }) => {
      const state = `${goes ? "running" : "at rest"}, iteration ${total - 1}, relative residual ${typeset(last)}`;
      return `${name}: ${total ? state : "setting up"}`;
    });
    const keys = model.get("movable") ? ", Shift with the up and down arrow keys moves it" : "";
    if (tolerance) parts.push(`Tolerance ${typeset(tolerance)}${keys}`);
    if (first.length) parts.push(`First there: ${canvas.dataset.first}`);
    if (canvas.dataset.slope) parts.push(canvas.dataset.slope);
    canvas.setAttribute("aria-label", `Convergence. ${parts.join(". ") || model.get("empty")}`);
  }

  const sayEmpty = () => {
    const phases = model.get("phases");
    canvas.dataset.phases = phases.map(([name]) => name).join("; ");
    engine.post({ kind: "say", empty: model.get("empty"), phases });
  };
  const forgotten = [follow(model, ["movable"], grip.show), follow(model, ["empty", "phases"], sayEmpty)];
  sayEmpty();
  return () => {
    for (const forget of forgotten) forget();
    grip.close();
    wire.close();
    page.close();
  };
}

export default { render };
