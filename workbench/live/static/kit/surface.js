import { focusable } from "./page.js";

// A canvas that is sharp on every screen and draws at most once per frame.

// heightFor(width) is the height in pixels that suits a width. draw(context, width, height, blank) receives whether the
// canvas lost what was drawn on it before.
export function surface(host, heightFor, draw) {
  const canvas = focusable();
  host.append(canvas);
  // An opaque canvas spares the browser from painting what lies under it.
  const context = canvas.getContext("2d", { alpha: false });
  let frame = 0;

  function paint() {
    frame = 0;
    const width = canvas.clientWidth;
    const tall = Math.round(heightFor(width));
    const scale = window.devicePixelRatio || 1;
    const [columns, rows] = [Math.round(width * scale), Math.round(tall * scale)];
    const blank = canvas.width !== columns || canvas.height !== rows;
    if (blank) {
      canvas.style.height = `${tall}px`;
      [canvas.width, canvas.height] = [columns, rows];
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw(context, width, tall, blank);
  }

  const invalidate = () => {
    frame ||= requestAnimationFrame(paint);
  };
  const observer = new ResizeObserver(invalidate);
  observer.observe(canvas);
  const close = () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
    canvas.remove();
  };
  return { canvas, invalidate, close };
}

export function wipe(context, colours, width, height) {
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
}
