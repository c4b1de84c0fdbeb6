import { axesOf, rowsOf } from "./circles.js";

// What keys do on the plane of bubbles.

const STEP = 0.01;
const FINE = 0.001;
const GROWTH = 0.005;

export function bubbleKeys(canvas, shown, tools) {
  let leaving = false;
  const count = () => shown.state.bubbles.length;
  const select = (index) => tools.ask("select", { index });

  // Around the ring of bubbles.
  function choose(by) {
    if (count()) select((shown.state.selected + by + count() + (shown.state.selected < 0 && by < 0 ? 1 : 0)) % count());
  }

  function shift(place, by) {
    const { selected } = shown.state;
    if (selected < 0 || place < 0) return;
    const row = [...rowsOf(shown)[selected]];
    row[place] = Number((row[place] + by).toFixed(4));
    if (place === row.length - 1) row[place] = Math.max(FINE, row[place]);
    // Along the third direction the plane goes with the bubble.
    tools.nudge(selected, row, place === axesOf(shown)[2] ? { reveal: true } : {});
  }

  const grow = (by) => shift(shown.state.dimensions, by);
  const keys = {
    "[": () => choose(-1),
    "]": () => choose(1),
    "+": () => grow(GROWTH),
    "=": () => grow(GROWTH),
    "-": () => grow(-GROWTH),
    _: () => grow(-GROWTH),
    Delete: () => shown.state.selected >= 0 && tools.ask("delete", { index: shown.state.selected }),
    Insert: () => tools.ask("add", {}),
    Escape: () => select(-1),
  };
  keys.Backspace = keys.Delete;

  function onArrow(key, fine) {
    const [across, up, through] = axesOf(shown);
    const step = fine ? FINE : STEP;
    const moves = {
      ArrowLeft: [across, -step],
      ArrowRight: [across, step],
      ArrowDown: [up, -step],
      ArrowUp: [up, step],
      PageDown: [through, -step],
      PageUp: [through, step],
    };
    if (!moves[key]) return false;
    shift(...moves[key]);
    return true;
  }

  // Tab goes through the bubbles and then on to the next control of the page; after Escape at once.
  function onTab(back) {
    if (leaving) return false;
    const next = shown.state.selected + (back ? -1 : 1);
    if (next < 0 || next >= count()) return false;
    select(next);
    return true;
  }

  function act(event) {
    const key = event.key;
    if (event.ctrlKey || event.metaKey) {
      const letter = key.toLowerCase();
      if (event.altKey || (letter !== "z" && letter !== "y")) return false;
      tools.ask(letter === "y" || event.shiftKey ? "redo" : "undo", {});
      return true;
    }
    if (event.altKey) return false;
    if (key === "Tab") return onTab(event.shiftKey);
    if (key !== "Shift") leaving = key === "Escape";
    if (onArrow(key, event.shiftKey)) return true;
    if (!keys[key]) return false;
    keys[key]();
    return true;
  }

  canvas.addEventListener("focus", () => {
    leaving = false;
  });
  canvas.addEventListener("keydown", (event) => {
    if (!act(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}
