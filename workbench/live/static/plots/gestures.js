// How wheel, pointer and keys move along a timeline. While isEmpty() says so the wheel belongs to the page.

const STEP = 1.5;
const LINE = 16;

export function gestures(canvas, engine, isEmpty) {
  const zoom = (factor, x) => engine.post({ kind: "zoom", factor, x });
  const pan = (share) => engine.post({ kind: "pan", share });
  const step = (by, lanes) => engine.post({ kind: "step", by, lanes });
  const point = (cursor) => engine.post({ kind: "point", cursor });
  const actions = {
    closer: () => zoom(1 / STEP),
    further: () => zoom(STEP),
    all: () => engine.post({ kind: "all" }),
  };
  const keys = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    PageUp: () => pan(-0.9),
    PageDown: () => pan(0.9),
    "+": actions.closer,
    "=": actions.closer,
    "-": actions.further,
    Home: actions.all,
    Escape: () => point(null),
  };
  const shifted = {
    ArrowLeft: () => step(-1, 0),
    ArrowRight: () => step(1, 0),
    ArrowUp: () => step(0, -1),
    ArrowDown: () => step(0, 1),
  };
  let held = null;

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = (event.shiftKey && shifted[event.key]) || keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (isEmpty()) return;
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
      const aside = event.deltaX || (event.shiftKey && event.deltaY);
      if (aside) engine.post({ kind: "pan", pixels: aside * unit });
      else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.002))), event.offsetX);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = event.offsetX;
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("wb-held");
  });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    if (held === null) {
      point({ x: offsetX, y: offsetY });
      return;
    }
    if (offsetX !== held) engine.post({ kind: "pan", pixels: held - offsetX });
    held = offsetX;
  });
  const release = () => {
    held = null;
    canvas.classList.remove("wb-held");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("blur", () => point(null));
  return actions;
}
