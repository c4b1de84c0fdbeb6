import { atMost } from "../transport/throttle.js";
import { element } from "../ui/page.js";
import { typeset } from "../ui/numbers.js";

// The tolerance line: dragged anywhere along it or by its grip, or moved by keys. The
// drawing follows at once; the kernel hears at most ten times a second, and the last of it.

const REACH = 5;
const PERIOD = 100;
const [TIGHTEST, LOOSEST] = [1e-16, 1];
const TENTH = 0.1;

// movable() tells whether it may be moved at all, tell(message) reaches the kernel.
export function toleranceGrip(canvas, plot, engine, movable, tell) {
  const grip = element("div", "wb-grip");
  grip.tabIndex = 0;
  grip.setAttribute("role", "slider");
  grip.setAttribute("aria-orientation", "vertical");
  grip.setAttribute("aria-label", "tolerance, a relative residual");
  grip.setAttribute("data-lm-suppress-shortcuts", "true");
  [grip.ariaValueMin, grip.ariaValueMax] = [Math.log10(TIGHTEST), Math.log10(LOOSEST)];
  grip.title = "tolerance: drag it, or press the up and down arrow keys";
  grip.hidden = true;
  plot.append(grip);

  // Where axis and lines lie, as the drawing said last.
  let scale = null;
  // The pointer's distance from the line while it is dragged.
  let held = null;
  // What was set here and is not yet heard back, and when: what the kernel says of earlier moves is out of date.
  let [mine, turn] = [null, 0];
  const send = atMost(PERIOD, () => tell({ kind: "tolerance", value: mine, turn }));

  const toY = (value) => {
    const { low, high, top, bottom, log } = scale;
    return bottom - (((log ? Math.log10(value) : value) - low) / (high - low)) * (bottom - top);
  };
  const fromY = (y) => {
    const { low, high, top, bottom, log } = scale;
    const value = low + ((bottom - Math.max(top, Math.min(bottom, y))) / (bottom - top)) * (high - low);
    return log ? 10 ** value : value;
  };
  const lines = () => (mine === null ? (scale?.lines ?? []) : [mine]);
  const near = (y) => (movable() && scale ? lines().find((value) => Math.abs(toY(value) - y) <= REACH) : undefined);

  const inSight = (value) => toY(value) >= scale.top - 1 && toY(value) <= scale.bottom + 1;

  function show() {
    const [value] = lines();
    grip.hidden = !movable() || !scale || value === undefined || !inSight(value);
    if (grip.hidden) return;
    Object.assign(grip.style, { left: `${scale.right + 3}px`, top: `${toY(value)}px` });
    grip.ariaValueNow = Math.log10(value).toFixed(2);
    grip.ariaValueText = typeset(value);
  }

  function move(value) {
    mine = Number(Math.max(TIGHTEST, Math.min(LOOSEST, value)).toPrecision(3));
    turn = Math.max(turn + 1, Date.now());
    engine.post({ kind: "tolerance", value: mine, held: held !== null });
    show();
    send.call();
  }

  function grab(event) {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    const line = event.currentTarget === grip ? lines()[0] : near(y);
    if (event.button !== 0 || event.shiftKey || line === undefined) return;
    held = y - toY(line);
    event.currentTarget.setPointerCapture(event.pointerId);
    event.currentTarget.focus({ preventScroll: true });
    plot.classList.add("wb-dragged");
    engine.post({ kind: "point", cursor: null });
  }

  function drag(event) {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    if (held !== null) move(fromY(y - held));
    else canvas.style.cursor = near(y) === undefined ? "" : "ns-resize";
  }

  function release() {
    if (held === null) return;
    held = null;
    plot.classList.remove("wb-dragged");
    engine.post({ kind: "tolerance", value: mine, held: false });
    if (mine !== null) send.now();
  }

  // Keys on the plot need Shift, as the arrows alone read out; on the grip they need not.
  function press(event) {
    if (!movable() || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowUp: TENTH, ArrowDown: -TENTH }[event.key];
    const [value] = lines();
    if (by !== undefined && value !== undefined && (event.shiftKey || event.currentTarget === grip)) {
      move(10 ** (Math.round(10 * (Math.log10(value) + by)) / 10));
    } else if (event.key === "Delete") {
      mine = null;
      turn = Math.max(turn + 1, Date.now());
      engine.post({ kind: "tolerance", value: null, held: false });
      send.now();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  for (const place of [canvas, grip]) {
    place.addEventListener("pointerdown", grab);
    place.addEventListener("pointermove", drag);
    place.addEventListener("pointerup", release);
    place.addEventListener("pointercancel", release);
    place.addEventListener("keydown", press);
  }
  return {
    // Whether the pointer is on the line or drags it.
    holds: (event) => held !== null || (event.type === "pointerdown" && !event.shiftKey && near(event.clientY - canvas.getBoundingClientRect().top) !== undefined),
    scaled(reported) {
      scale = reported;
      show();
    },
    // A message of the kernel's has been handed to the drawing: what it says counts again once it knows of the last move.
    heard(content) {
      if (mine === null || held !== null || !(content.reset || content.turn >= turn)) return;
      mine = null;
      engine.post({ kind: "tolerance", value: null, held: false });
    },
    show,
    close: send.cancel,
  };
}
