// When the 3D view is drawn and how finely: coarsely while something moves and the GPU is slow, finely at rest, and not
// at all when nothing has changed.

// Milliseconds that a picture may take while something moves, and one at rest that takes several pixels for one.
const [MOVING_MS, SOFTWARE_MS, FINE_MS] = [30, 100, 500];
// Milliseconds after which what moved is at rest: by hand, and of a run whose pictures come several to a message.
const RESTS = { moving: 160, live: 2000 };
const [LEAST, FINEST] = [0.35, 2];

// draw(quality) draws with so many pixels per pixel of the canvas and side; drawn(quality, ms) is called when that is on
// the page.
export function volumeStage(canvas, renderer, draw, drawn) {
  const target = renderer.software ? SOFTWARE_MS : MOVING_MS;
  let coarse = renderer.software ? 0.5 : 1;
  let [frame, busy, asked, timer, closed] = [0, false, false, 0, false];
  // What the next picture is: of something that moves, of a run, whole, or with several pixels for each of the page.
  let wanted = "whole";

  // A smooth edge takes four pixels for one, unless those of the screen are small.
  const qualities = () => ({ moving: coarse, live: coarse, whole: 1, fine: (window.devicePixelRatio || 1) > 1.5 ? 1 : FINEST });

  function paint() {
    [frame, asked] = [0, false];
    if (closed || !canvas.width || !canvas.height) return;
    const [kind, quality] = [wanted, qualities()[wanted]];
    const begun = performance.now();
    busy = true;
    draw(quality);
    renderer.finished(() => {
      busy = false;
      if (closed) return;
      const spent = performance.now() - begun;
      if (kind in RESTS) adapt(spent);
      drawn(quality, spent);
      if (asked) schedule();
      else refine(kind, quality, spent);
    });
  }

  function adapt(spent) {
    if (spent > 1.3 * target) coarse = Math.max(LEAST, 0.8 * coarse);
    else if (spent < 0.6 * target) coarse = Math.min(1, 1.2 * coarse);
  }

  // At rest once more, if that is finer and there is time for it.
  function refine(kind, quality, spent) {
    const { fine } = qualities();
    if (kind in RESTS && quality < fine) timer = setTimeout(() => ask("whole"), RESTS[kind]);
    if (kind === "whole" && quality < fine && spent * fine ** 2 < FINE_MS) ask("fine");
  }

  function schedule() {
    frame ||= requestAnimationFrame(paint);
  }

  function ask(kind) {
    clearTimeout(timer);
    wanted = kind;
    asked = true;
    if (!busy) schedule();
  }

  return {
    // Draw again, because something moves, for a picture of an active run, or "whole" at once.
    invalidate: (kind = "moving") => ask(kind),
    close() {
      closed = true;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    },
  };
}
