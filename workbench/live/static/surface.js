// A canvas that is sharp on every screen and draws at most once per frame.

// heightFor(width) is the height in pixels that suits a width.
export function surface(host, heightFor, draw) {
  const canvas = document.createElement("canvas");
  canvas.className = "wb-canvas";
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  // Arrow keys move the readout and not the notebook's selection.
  canvas.setAttribute("data-lm-suppress-shortcuts", "true");
  host.append(canvas);
  const context = canvas.getContext("2d");
  let frame = 0;

  function paint() {
    frame = 0;
    const width = canvas.clientWidth;
    const tall = heightFor(width);
    canvas.style.height = `${tall}px`;
    const scale = window.devicePixelRatio || 1;
    const [columns, rows] = [Math.round(width * scale), Math.round(tall * scale)];
    if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, tall);
    draw(context, width, tall);
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
