import { tellKernel } from "../transport/kernel.js";
import { atMost } from "../transport/throttle.js";
import { element } from "../ui/page.js";
import { typeset } from "../ui/numbers.js";
import { follow } from "../ui/traits.js";
import { chartView } from "./chartview.js";
import { Scale } from "./scale.js";

// A plot with handles over it. The one that is held follows the pointer at once, and the picture follows the kernel, which
// receives at most so many moves a second, and the last one always. A press, with the pointer or a key, is sent as well.

const MOVE_MS = 25;
// Pixels that the pointer may move in a press.
const STILL = 3;
// Pixels within which a dragged handle lies on one of its lines.
const SNAP = 10;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
// Of an axis, by a key.
const [NEARER, FURTHER] = [0.01, 0.1];

function render({ model, el }) {
  const axes = { x: new Scale(), y: new Scale() };
  let box = null;
  let held = null;
  // The last move by a key that was sent: keys come faster than the kernel's answers.
  let sent = null;
  const made = new Map();
  const { page, close } = chartView({ model, el }, (state) => {
    box = state.box;
    for (const way of ["x", "y"]) {
      axes[way].log = state[`${way}Log`];
      axes[way].span(axes[way].inner(state[`${way}Low`]), axes[way].inner(state[`${way}High`]));
    }
    place();
  });
  const report = (moved) => tellKernel(model, { kind: "moved", ...moved });
  const send = atMost(MOVE_MS, () => report(held));
  const handles = () => model.get("handles");
  const known = (key) => handles().find((one) => one.key === key);
  const within = (share) => Math.max(0, Math.min(1, share));
  const moved = (key, across, up) => ({ key, x: axes.x.at(within(across)), y: axes.y.at(within(up)) });

  function drag(key, { clientX, clientY }) {
    const { left, top } = page.canvas.getBoundingClientRect();
    const across = (clientX - left - box.left) / (box.right - box.left);
    held = onLine(moved(key, across, (box.bottom - clientY + top) / (box.bottom - box.top)));
    show(known(key));
    send.call();
  }

  // The place on the nearest line of a handle, where one is near.
  function onLine(place) {
    const inPixels = (x, y) => [axes.x.share(x) * (box.right - box.left), axes.y.share(y) * (box.bottom - box.top)];
    const [px, py] = inPixels(place.x, place.y);
    const found = known(place.key).lines.map(([x0, y0, x1, y1]) => {
      const [[ax, ay], [bx, by]] = [inPixels(x0, y0), inPixels(x1, y1)];
      const along = ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2);
      const away = Math.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay));
      return { away, x: x0 + along * (x1 - x0), y: y0 + along * (y1 - y0) };
    });
    const near = found.filter(({ away }) => away <= SNAP).sort((one, other) => one.away - other.away)[0];
    return near ? { ...place, x: near.x, y: near.y } : place;
  }

  function turn(key, by, share) {
    const [{ x, y }, along] = [sent?.key === key ? sent : known(key), known(key).y === null];
    sent = moved(key, axes.x.share(x) + by[0] * share, along ? 0 : axes.y.share(y) + by[1] * share);
    report(sent);
  }

  // Of many along the axis, Tab reaches one; arrow keys go from it to the others.
  function reach(handle) {
    if (known(handle?.dataset.handle)?.y !== null) return;
    for (const other of made.values()) other.tabIndex = other === handle ? 0 : -1;
  }

  function handleOf(key) {
    const handle = element("button", "wb-handle");
    handle.type = "button";
    handle.dataset.handle = key;
    handle.setAttribute("aria-roledescription", "handle");
    handle.setAttribute("data-lm-suppress-shortcuts", "true");
    let [from, dragged, apart] = [null, false, [0, 0]];
    const release = () => {
      from = null;
      // The kernel corrects a place out of bounds.
      if (held) send.now();
      held = null;
    };
    const grab = (event, distance = [0, 0]) => {
      if (event.button !== 0 || !box) return;
      [from, dragged, apart] = [event, false, distance];
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      page.engine.post({ kind: "point", cursor: null });
    };
    handle.addEventListener("pointerdown", (event) => grab(event));
    handle.addEventListener("pointermove", (event) => {
      if (!from) return;
      dragged ||= Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > STILL;
      if (dragged) drag(key, { clientX: event.clientX - apart[0], clientY: event.clientY - apart[1] });
    });
    handle.addEventListener("pointerup", release);
    handle.addEventListener("pointercancel", release);
    handle.addEventListener("focus", () => reach(handle));
    // The click after a drag is none; Enter and Space click as well.
    handle.addEventListener("click", () => {
      if (!dragged && known(key).press) tellKernel(model, { kind: "pressed", key });
      dragged = false;
    });
    handle.addEventListener("keydown", (event) => {
      const by = ARROWS[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      const along = known(key).y === null;
      if (along && by[1]) neighbour(key, by[1]);
      else turn(key, by, event.shiftKey ? FURTHER : NEARER);
    });
    page.plot.append(handle);
    handle.grab = grab;
    return handle;
  }

  // The handle whose disc is under the pointer, and the pointer's distance from its middle.
  function discAt({ clientX, clientY, shiftKey }) {
    if (!box || shiftKey) return null;
    const { left, top } = page.canvas.getBoundingClientRect();
    const wide = box.right - box.left;
    for (const { key, x, y, around } of handles()) {
      if (!around || made.get(key).hidden) continue;
      const across = clientX - left - box.left - axes.x.share(x) * wide;
      const up = clientY - top - box.bottom + axes.y.share(y) * (box.bottom - box.top);
      const reach = (axes.x.share(x + around) - axes.x.share(x)) * wide;
      if (Math.hypot(across, up) <= reach) return { handle: made.get(key), distance: [across, up] };
    }
    return null;
  }

  // Before the plot hears of it, which a drag would zoom.
  page.plot.addEventListener("pointerdown", takeDisc, true);
  page.plot.addEventListener("pointermove", showDisc);

  function takeDisc(event) {
    const found = event.target === page.canvas && discAt(event);
    if (!found) return;
    event.stopPropagation();
    event.preventDefault();
    found.handle.grab(event, found.distance);
  }

  function showDisc(event) {
    if (event.target === page.canvas) page.canvas.classList.toggle("wb-grabs", discAt(event) !== null);
  }

  function neighbour(key, by) {
    const sorted = [...handles()].sort((one, other) => one.x - other.x);
    const next = sorted[sorted.findIndex((one) => one.key === key) + by];
    if (next) made.get(next.key).focus();
  }

  function place() {
    const there = new Set(handles().map(({ key }) => key));
    for (const [key, handle] of made) {
      if (there.has(key)) continue;
      handle.remove();
      made.delete(key);
    }
    handles().forEach(show);
    const shown = [...made.values()].filter(({ hidden }) => !hidden);
    if (!shown.some(({ tabIndex }) => tabIndex === 0)) reach(shown[0]);
  }

  function show(one) {
    if (!made.has(one.key)) made.set(one.key, handleOf(one.key));
    const handle = made.get(one.key);
    const { x, y } = held?.key === one.key ? { ...held, y: one.y === null ? null : held.y } : one;
    const [across, up] = [axes.x.share(x), y === null ? 0 : axes.y.share(y)];
    const [left, top] = box ? [box.left + across * (box.right - box.left), box.bottom - up * (box.bottom - box.top)] : [NaN, NaN];
    // One of many moves, and the page is slow.
    const state = JSON.stringify([one, left, top]);
    if (handle.state === state) return;
    handle.state = state;
    handle.hidden = !(across >= 0 && across <= 1 && up >= 0 && up <= 1 && box);
    Object.assign(handle.style, { left: `${left}px`, top: `${top}px` });
    const said = `${one.name}, at ${typeset(x)}${y === null ? "" : `, ${typeset(y)}`}`;
    handle.setAttribute("aria-label", said);
    const keys = y === null ? "left and right arrow keys move it, up and down go to the next" : "arrow keys move it";
    handle.title = `${said}: drag it; ${keys}, with Shift further${one.press ? `; a click or Enter ${one.press}` : ""}`;
    handle.classList.toggle("wb-thin", one.thin);
    handle.classList.toggle("wb-squarehandle", one.square);
    handle.classList.toggle("wb-off", one.off);
  }

  const forget = follow(model, ["handles"], () => {
    sent = null;
    place();
  });
  return () => {
    forget();
    send.cancel();
    close();
  };
}

export default { render };
