import { focusable } from "./page.js";
import { onThemeChange, theme } from "./theme.js";

// A canvas that is sharp on every screen, draws at most once per frame, and has the colours of the page.

// heightFor(width, colours) is the height in pixels that suits a width. draw(context, colours, width, height) draws all.
export function surface(host, heightFor, draw) {
  const canvas = focusable();
  host.append(canvas);
  // An opaque canvas spares the browser from painting what lies under it.
  const context = canvas.getContext("2d", { alpha: false });
  let [frame, colours] = [0, null];

  function paint() {
    frame = 0;
    const width = canvas.clientWidth;
    // Reading them costs more than most pictures.
    colours ??= theme(canvas);
    const tall = Math.round(heightFor(width, colours));
    const scale = window.devicePixelRatio || 1;
    const [columns, rows] = [Math.round(width * scale), Math.round(tall * scale)];
    if (canvas.width !== columns || canvas.height !== rows) {
      canvas.style.height = `${tall}px`;
      [canvas.width, canvas.height] = [columns, rows];
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    if (width <= 0) return;
    wipe(context, colours, width, tall);
    draw(context, colours, width, tall);
  }

  const invalidate = () => {
    frame ||= requestAnimationFrame(paint);
  };
  const forget = onThemeChange(() => {
    colours = null;
    invalidate();
  });
  const observer = new ResizeObserver(invalidate);
  observer.observe(canvas);
  const close = () => {
    cancelAnimationFrame(frame);
    forget();
    observer.disconnect();
    canvas.remove();
  };
  return { canvas, invalidate, close };
}

function wipe(context, colours, width, height) {
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
}
