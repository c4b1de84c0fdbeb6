// How wheel, pointer and keys move along a timeline. The wheel alone belongs to the page until the canvas has the focus.

const STEP = 1.25;
const LINE = 16;
const SLOWNESS = 1000;
export const HELP =
  "Drag moves the picture, or the window in the strip above. Ctrl with the wheel zooms at the pointer. Once the timeline has the " +
  "focus, the wheel alone does. W and S zoom. A and D, or the left and right arrow keys, move. Home shows all. Shift-drag selects a " +
  "stretch, whose sums the table shows. Escape ends that. Shift with the arrow keys goes from event to event.";

// isEmpty(): whether there is nothing to move along.
export function gestures(canvas, engine, isEmpty) {
  const post = (kind, reported = {}) => engine.post({ kind, ...reported });
  let [held, over] = [false, undefined];
  const zoom = (factor, x = over) => post("zoom", { factor, x });
  const pan = (share) => post("pan", { share });
  const step = (by, lanes) => post("step", { by, lanes });
  const actions = {
    closer: () => zoom(1 / STEP, undefined),
    further: () => zoom(STEP, undefined),
    all: () => post("all"),
  };
  const keys = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    PageUp: () => pan(-0.9),
    PageDown: () => pan(0.9),
    a: () => pan(-0.1),
    d: () => pan(0.1),
    w: () => zoom(1 / STEP),
    s: () => zoom(STEP),
    "+": actions.closer,
    "=": actions.closer,
    "-": actions.further,
    Home: actions.all,
    Escape: () => {
      post("point", { cursor: null });
      post("select", { stretch: null });
    },
  };
  const shifted = {
    ArrowLeft: () => step(-1, 0),
    ArrowRight: () => step(1, 0),
    ArrowUp: () => step(0, -1),
    ArrowDown: () => step(0, 1),
  };

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = (event.shiftKey && shifted[event.key]) || keys[event.key] || keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (isEmpty()) return;
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
      const aside = event.deltaX || (event.shiftKey && event.deltaY);
      if (!aside && !event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (aside) post("pan", { pixels: aside * unit });
      else zoom(Math.exp(Math.max(-0.5, Math.min(0.5, (event.deltaY * unit) / SLOWNESS))), event.offsetX);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = true;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    canvas.classList.add("wb-held");
    post("grab", { x: event.offsetX, y: event.offsetY, selects: event.shiftKey });
  });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    over = offsetX;
    if (held) post("drag", { x: offsetX });
    else post("point", { cursor: { x: offsetX, y: offsetY } });
  });
  const release = () => {
    if (held) post("drop");
    held = false;
    canvas.classList.remove("wb-held");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  const leave = () => {
    over = undefined;
    post("point", { cursor: null });
  };
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", leave);
  return actions;
}
