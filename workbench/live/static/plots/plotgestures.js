// How wheel, pointer and keys act on a plot. They go to the drawing, which knows the axes.

const CLICK = 4;
const STEP = 1.25;
const LINE_PIXELS = 16;
export const HELP =
  "Drag zooms in, a double click or 0 shows all again. Ctrl with the wheel zooms at the pointer. Once the plot has the focus, the wheel " +
  "alone does, with Shift up and down. Arrow keys move, plus and minus zoom. Shift-drag measures a slope. A click on a name hides its curve.";

// state(): what was painted last; held(event): whether another hand has the pointer.
export function plotGestures(canvas, engine, state, held) {
  const post = (kind, reported = {}) => engine.post({ kind, ...reported });
  let down = null;
  const at = ({ clientX, clientY }) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  const move = (x, y) => (state().zoomed ? post("pan", { x, y }) : x && post("point", { cursor: { by: Math.sign(x) * (Math.abs(x) > 0.5 ? 10 : 1) } }));
  const zoom = (factor, ways) => post("zoom", { factor, ways });
  const keys = {
    ArrowLeft: () => move(-0.1, 0),
    ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, 0.1),
    ArrowDown: () => move(0, -0.1),
    PageUp: () => move(-0.9, 0),
    PageDown: () => move(0.9, 0),
    "+": () => zoom(1 / STEP),
    "=": () => zoom(1 / STEP),
    "-": () => zoom(STEP),
    0: () => post("reset"),
    Home: () => post("reset"),
    Escape: () => {
      post("measure", { from: null });
      post("point", { cursor: null });
    },
  };
  const shifted = {
    ArrowLeft: () => post("point", { cursor: { by: -1 } }),
    ArrowRight: () => post("point", { cursor: { by: 1 } }),
    "+": () => zoom(1 / STEP, "y"),
    "*": () => zoom(1 / STEP, "y"),
    _: () => zoom(STEP, "y"),
  };

  canvas.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = (event.shiftKey && shifted[event.key]) || keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PIXELS;
      const turned = (event.deltaY || event.deltaX) * unit;
      const { x, y } = at(event);
      const upright = event.shiftKey || x < (state().box?.left ?? 0);
      post("zoom", { factor: Math.exp(Math.max(-1, Math.min(1, turned / 400))), x, y, ways: upright ? "y" : undefined });
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || held(event)) return;
    down = { ...at(event), measures: event.shiftKey, moved: false };
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    if (down.measures) event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (held(event)) return;
    if (!down) {
      post("point", { cursor: here });
      return;
    }
    down.moved ||= Math.abs(here.x - down.x) > CLICK || (down.measures && Math.abs(here.y - down.y) > CLICK);
    if (!down.moved) return;
    post("point", { cursor: null });
    if (down.measures) post("measure", { from: { x: down.x, y: down.y }, to: here });
    else post("brush", { from: down.x, to: here.x });
  });
  const release = (event) => {
    if (!down) return;
    const [from, here] = [down, at(event)];
    down = null;
    if (!from.moved) post("press", here);
    else if (!from.measures && event.type === "pointerup") post("range", { from: from.x, to: here.x });
    else post("brush", { from: null });
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", () => post("reset"));
  const leave = () => post("point", { cursor: null });
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
}
