// How wheel and keys bring the cube closer. Home shows it whole again.

const KEYS_OF_ZOOM = { "+": 1.25, "=": 1.25, "-": 0.8 };
const [SMALLEST, LARGEST] = [0.5, 8];
const PER_PIXEL = 0.004;
const MOST_AT_ONCE = 60;

export function zooming(canvas, zoom, set) {
  const by = (factor) => set(Math.min(LARGEST, Math.max(SMALLEST, zoom() * factor)));
  canvas.addEventListener("wheel", (event) => {
    // A page that is scrolled over the view scrolls on, unless the view is in use.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    by(Math.exp(-PER_PIXEL * Math.max(-MOST_AT_ONCE, Math.min(MOST_AT_ONCE, event.deltaY))));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Home") set(1);
    if (!(event.key in KEYS_OF_ZOOM)) return;
    event.preventDefault();
    event.stopPropagation();
    by(KEYS_OF_ZOOM[event.key]);
  });
}
