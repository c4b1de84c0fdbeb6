import { FRONT } from "./camera.js";

// How pointer and keys turn the cube. pick(x, y) is called for a press without a turn.

const SWEEP = 15;
const LASTS = 160;
const DEGREES_PER_PIXEL = 0.45;
const STEEPEST = 89;
const KEYS = { ArrowLeft: [SWEEP, 0], ArrowRight: [-SWEEP, 0], ArrowUp: [0, SWEEP], ArrowDown: [0, -SWEEP] };

export function turning(canvas, angles, set, pick) {
  let [held, goal, frame] = [null, null, 0];

  const within = ({ azimuth, elevation }) => ({
    azimuth: ((((azimuth + 180) % 360) + 360) % 360) - 180,
    elevation: Math.max(-STEEPEST, Math.min(STEEPEST, elevation)),
  });

  // Keys turn in a short sweep, unless the user would rather see nothing move by itself.
  function turnTo(next) {
    cancelAnimationFrame(frame);
    goal = next;
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      set(within(goal));
      goal = null;
      return;
    }
    const [from, begun] = [angles(), performance.now()];
    const sweep = (now) => {
      const share = Math.min(1, Math.max(0, (now - begun) / LASTS));
      const part = (name) => from[name] + share * (next[name] - from[name]);
      set(share < 1 ? { azimuth: part("azimuth"), elevation: part("elevation") } : within(next));
      if (share < 1) frame = requestAnimationFrame(sweep);
      else goal = null;
    };
    frame = requestAnimationFrame(sweep);
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = KEYS[event.key];
    if (!by && event.key !== "Home") return;
    event.preventDefault();
    event.stopPropagation();
    // Keys pressed during a rotation continue from where it will end.
    const from = goal ?? angles();
    const next = { azimuth: from.azimuth + (by?.[0] ?? 0), elevation: from.elevation + (by?.[1] ?? 0) };
    turnTo(by ? { ...next, elevation: within(next).elevation } : { ...FRONT });
  });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    cancelAnimationFrame(frame);
    goal = null;
    held = { x: event.offsetX, y: event.offsetY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    if (!held) return;
    const [dx, dy] = [offsetX - held.x, offsetY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < 3) return;
    held = { x: offsetX, y: offsetY, moved: true };
    const { azimuth, elevation } = angles();
    set(within({ azimuth: azimuth - dx * DEGREES_PER_PIXEL, elevation: elevation + dy * DEGREES_PER_PIXEL }));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) pick(event.offsetX, event.offsetY);
    held = null;
  });
  canvas.addEventListener("pointercancel", () => {
    held = null;
  });

  return { close: () => cancelAnimationFrame(frame) };
}
