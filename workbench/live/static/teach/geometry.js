import { chartView } from "../plots/chartview.js";
import { tellKernel } from "../transport/kernel.js";
import { atMost } from "../transport/throttle.js";
import { element } from "../ui/page.js";
import { follow } from "../ui/traits.js";

// A plot with handles over it. The one that is held follows the pointer at once, and the picture follows the kernel, which
// is told of moves at most so often, of the last one always. It says where a handle may be, which is shown a moment after
// the last move.

const TOLD = 25;
const SETTLE = 300;
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const [FINE, COARSE] = [0.05, 0.5];

function render({ model, el }) {
  const { page, close } = chartView({ model, el }, (state) => {
    frame = state;
    place();
  });
  let frame = null;
  let [held, settling] = [null, 0];
  const made = new Map();
  const send = atMost(TOLD, () => tellKernel(model, { kind: "drag", ...held }));

  const toX = (x) => frame.box.left + ((x - frame.xLow) / (frame.xHigh - frame.xLow)) * (frame.box.right - frame.box.left);
  const toY = (y) => frame.box.bottom - ((y - frame.yLow) / (frame.yHigh - frame.yLow)) * (frame.box.bottom - frame.box.top);
  function at({ clientX, clientY }) {
    const { left, top } = page.canvas.getBoundingClientRect();
    const { box, xLow, xHigh, yLow, yHigh } = frame;
    const x = xLow + ((clientX - left - box.left) / (box.right - box.left)) * (xHigh - xLow);
    const y = yLow + ((box.bottom - clientY + top) / (box.bottom - box.top)) * (yHigh - yLow);
    return { x, y };
  }

  function move(key, { x, y }) {
    clearTimeout(settling);
    const within = (value, low, high) => Math.max(low, Math.min(high, value));
    held = { key, x: within(x, frame.xLow, frame.xHigh), y: within(y, frame.yLow, frame.yHigh) };
    place();
    send.call();
  }

  function settle() {
    if (held) send.now();
    clearTimeout(settling);
    settling = setTimeout(() => {
      held = null;
      place();
    }, SETTLE);
  }

  function handleOf(key) {
    const handle = element("button", `wb-handle wb-handle-${key}`);
    handle.type = "button";
    handle.setAttribute("aria-roledescription", "handle");
    handle.setAttribute("data-lm-suppress-shortcuts", "true");
    let dragged = false;
    const release = () => {
      if (dragged) settle();
      dragged = false;
    };
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !frame?.box) return;
      dragged = true;
      handle.setPointerCapture(event.pointerId);
      page.engine.post({ kind: "point", cursor: null });
    });
    handle.addEventListener("pointermove", (event) => dragged && move(key, at(event)));
    handle.addEventListener("pointerup", release);
    handle.addEventListener("pointercancel", release);
    handle.addEventListener("keydown", (event) => {
      const by = MOVES[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      // Keys come faster than answers.
      const { x, y } = held?.key === key ? held : model.get("handles").find((one) => one.key === key);
      const step = event.shiftKey ? COARSE : FINE;
      move(key, { x: x + step * by[0], y: y + step * by[1] });
      settle();
    });
    page.plot.append(handle);
    return handle;
  }

  function place() {
    for (const one of model.get("handles")) {
      if (!made.has(one.key)) made.set(one.key, handleOf(one.key));
      const handle = made.get(one.key);
      const { x, y } = held?.key === one.key ? held : one;
      const said = `${one.name}, at ${one.x.toFixed(2)}, ${one.y.toFixed(2)}`;
      handle.setAttribute("aria-label", said);
      handle.title = `${said}: drag it, or press the arrow keys (with Shift for larger steps)`;
      handle.hidden = !frame?.box || x < frame.xLow || x > frame.xHigh || y < frame.yLow || y > frame.yHigh;
      if (!handle.hidden) Object.assign(handle.style, { left: `${toX(x)}px`, top: `${toY(y)}px` });
    }
  }

  const forget = follow(model, ["handles"], place);
  return () => {
    forget();
    clearTimeout(settling);
    send.cancel();
    close();
  };
}

export default { render };
