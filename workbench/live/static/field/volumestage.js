// When the 3D view is drawn and how finely: coarsely while something moves and the GPU is slow, finely at rest, and not
// at all when nothing has changed.

const [MOVING_MS, FINE_MS, WHOLE_MS] = [45, 500, 2500];
const REST = 160;
const [LEAST, FINEST] = [0.2, 2];

// draw(quality) draws with so many pixels per pixel of the canvas; drawn(quality, ms) is called when that is on the page.
export function volumeStage(canvas, renderer, draw, drawn) {
  // Milliseconds for a million pixels: a guess until the first picture is measured.
  let cost = renderer.software ? 800 : 30;
  let [frame, busy, asked, timer, moving, closed] = [0, false, false, 0, false, false];

  const millions = () => Math.max(1, canvas.width * canvas.height) / 1e6;
  const within = (milliseconds) => Math.max(LEAST, Math.sqrt(milliseconds / cost / millions()));

  // While something moves, pixels of the screen are enough; at rest several make one smooth pixel, where there is time.
  function qualityNow() {
    if (moving) return Math.min(1, within(MOVING_MS));
    const finest = (window.devicePixelRatio || 1) > 1.5 ? 1 : FINEST;
    return within(FINE_MS) >= finest ? finest : Math.min(1, within(WHOLE_MS));
  }

  function paint() {
    [frame, asked] = [0, false];
    if (closed || !canvas.width || !canvas.height) return;
    const quality = qualityNow();
    const begun = performance.now();
    busy = true;
    draw(quality);
    renderer.finished(() => {
      busy = false;
      if (closed) return;
      const spent = performance.now() - begun;
      cost = 0.5 * cost + 0.5 * Math.max(1, spent / millions() / quality ** 2);
      drawn(quality, spent);
      if (asked) schedule();
      else refine(quality);
    });
  }

  // At rest once more, if that is finer.
  function refine(quality) {
    const wait = moving ? REST : 0;
    moving = false;
    if (qualityNow() > 1.1 * quality) timer = setTimeout(() => invalidate(false), wait);
  }

  function schedule() {
    frame ||= requestAnimationFrame(paint);
  }

  function invalidate(moves = true) {
    clearTimeout(timer);
    moving = moves;
    asked = true;
    if (!busy) schedule();
  }

  return {
    invalidate,
    close() {
      closed = true;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    },
  };
}
