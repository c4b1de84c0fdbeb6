import { atMost } from "../transport/throttle.js";
import { bubbleAt, circleOf, placeAt, rowWith, rowsOf } from "./circles.js";

// What pointer and wheel do on the plane of bubbles.

const REACH = 7;
const STILL = 3;
const PERIOD = 33;
// Without a movement for so long, in ms, a bubble that is held rests: the kernel may do what takes longer.
const PAUSE = 60;

// tools: ask(act, values) returns the message's number; hold(held) shows a bubble where it is not yet; nudge(index, row).
export function bubbleHands(plane, shown, tools) {
  const { canvas, toPlane } = plane;
  let drag = null;
  let rest = 0;
  const place = (moving) => {
    if (drag?.moved && drag.index !== null) tools.ask("place", { index: drag.index, row: drag.next, stroke: drag.stroke, moving });
  };
  const tell = atMost(PERIOD, () => place(true));
  const paused = () => {
    tell.cancel();
    place(false);
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = toPlane(event);
    if (at.side) {
      tools.ask("side", { side: at.side, to: shown.state.sides[at.side] === "neumann" ? "dirichlet" : "neumann" });
      return;
    }
    const found = bubbleAt(at.x, at.y, REACH * at.pixel, shown);
    if (!found && !at.free) return;
    const row = found ? rowsOf(shown)[found.index] : null;
    const circle = found ? circleOf(row, shown) : null;
    const stroke = `drag-${Date.now()}`;
    drag = { start: at, index: found ? found.index : null, rim: found?.rim, row, circle, stroke, moved: false };
    if (found && found.index !== shown.state.selected) tools.ask("select", { index: found.index });
    canvas.setPointerCapture(event.pointerId);
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = toPlane(event);
    if (!drag) {
      canvas.style.cursor = cursorAt(at);
      return;
    }
    const { start } = drag;
    drag.moved ||= Math.hypot(at.x - start.x, at.y - start.y) > STILL * at.pixel;
    if (!drag.moved) return;
    drag.next = drag.index === null ? rowFrom(start, at) : rowAt(at);
    tools.hold({ index: drag.index ?? rowsOf(shown).length, row: drag.next, seq: Infinity });
    tell.call();
    clearTimeout(rest);
    rest = setTimeout(paused, PAUSE);
  });

  function rowAt(at) {
    const { circle, start, rim, row } = drag;
    if (!rim) return rowWith(row, { x: circle.x + at.x - start.x, y: circle.y + at.y - start.y, r: circle.r }, shown);
    // From where it was taken hold of, so that the rim does not jump to the pointer.
    const grown = Math.hypot(at.x - circle.x, at.y - circle.y) - Math.hypot(start.x - circle.x, start.y - circle.y);
    return rowWith(row, { ...circle, r: Math.max(0, circle.r + grown) }, shown);
  }

  // A drag from free space draws a bubble about the place where it began.
  function rowFrom(start, at) {
    return [...placeAt(start.x, start.y, shown), Number(Math.hypot(at.x - start.x, at.y - start.y).toFixed(3))];
  }

  const release = (event) => {
    if (!drag) return;
    const ended = drag;
    drag = null;
    cancel();
    let seq = 0;
    if (ended.index === null) {
      const centre = placeAt(ended.start.x, ended.start.y, shown);
      const radius = ended.moved ? { radius: ended.next.at(-1) } : {};
      if (event.type === "pointerup") seq = tools.ask("add", { centre, ...radius, done: true });
    } else if (ended.moved) {
      const row = event.type === "pointerup" ? ended.next : ended.row;
      seq = tools.ask("place", { index: ended.index, row, stroke: ended.stroke, done: true });
    }
    // What was released stays there until the kernel has answered.
    tools.hold(shown.held && seq ? { ...shown.held, seq } : null);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);

  canvas.addEventListener(
    "wheel",
    (event) => {
      const at = toPlane(event);
      const found = bubbleAt(at.x, at.y, 0, shown);
      // Elsewhere the wheel scrolls the page.
      if (!found || found.index !== shown.state.selected || document.activeElement !== canvas) return;
      event.preventDefault();
      const row = [...rowsOf(shown)[found.index]];
      const grown = row.at(-1) * Math.exp(Math.max(-0.1, Math.min(0.1, -0.001 * event.deltaY)));
      row[row.length - 1] = Math.max(0.001, Number(grown.toFixed(4)));
      tools.nudge(found.index, row);
    },
    { passive: false },
  );

  function cursorAt(at) {
    if (at.side) return "pointer";
    const found = bubbleAt(at.x, at.y, REACH * at.pixel, shown);
    if (!found) return at.free ? "crosshair" : "default";
    return found.rim ? "nwse-resize" : "move";
  }

  function cancel() {
    tell.cancel();
    clearTimeout(rest);
  }

  return { close: cancel };
}
