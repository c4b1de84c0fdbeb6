import { atMost } from "../transport/throttle.js";
import { element } from "../ui/page.js";
import { axesOf, bubbleAt, circleOf, placeAt, rowsOf, rowWith } from "./bubbleplane.js";

// What pointer and wheel do on the plane of bubbles.

const REACH = 7;
const STILL = 3;
const PERIOD = 33;
// Without a movement for this time, in ms, a dragged bubble rests: the kernel may do what takes longer.
const PAUSE = 60;

// tools: ask(act, values) returns the message's number; drag(dragged) shows a bubble where it is not yet; nudge(index, row).
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
    tools.drag({ index: drag.index ?? rowsOf(shown).length, row: drag.next, seq: Infinity });
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
    tools.drag(shown.dragged && seq ? { ...shown.dragged, seq } : null);
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

// The bubbles as numbers to be typed. What was refused stays as it was typed, marked, until its bubble changes or Escape.

export function bubbleList(shown, tools) {
  const [root, scroller] = [element("div", "wb-bubbles"), element("div", "wb-rows")];
  const table = element("table", "wb-table");
  const [head, body] = [element("thead", ""), element("tbody", "")];
  table.append(head, body);
  scroller.append(table);
  root.append(element("div", "wb-empty", "bubbles, in side lengths"), scroller);
  let [names, typed] = ["", null];

  function show() {
    const { dimensions, bubbles, selected, heard, accepted } = shown.state;
    rename(`${"xyz".slice(0, dimensions)}r`);
    while (body.children.length > bubbles.length) body.lastChild.remove();
    while (body.children.length < bubbles.length) body.append(line(body.children.length));
    if (typed && (typed.was !== String(bubbles[typed.index]) || (heard === typed.seq && accepted))) typed = null;
    bubbles.forEach((row, index) => {
      const made = body.children[index];
      made.setAttribute("aria-selected", String(index === selected));
      const kept = typed?.index === index;
      row.forEach((value, place) => {
        const box = made.children[place + 1].firstChild;
        box.setAttribute("aria-invalid", String(kept && heard >= typed.seq && place === typed.place));
        if (!kept && document.activeElement !== box) box.value = written(value);
        else if (!kept && box.dataset.shown !== String(value)) box.value = written(value);
        box.dataset.shown = String(value);
      });
    });
    keepInSight(body.children[selected]);
  }

  // Within the list alone, so that the page stays where it is.
  function keepInSight(line) {
    if (!line) return;
    const [low, high] = [line.offsetTop + line.offsetHeight - scroller.clientHeight, line.offsetTop - head.offsetHeight];
    scroller.scrollTop = Math.max(low, Math.min(high, scroller.scrollTop));
  }

  function rename(next) {
    if (next === names) return;
    names = next;
    typed = null;
    const titles = element("tr", "");
    titles.append(...["", ...names].map((name) => Object.assign(element("th", "", name), { scope: "col" })));
    head.replaceChildren(titles);
    body.replaceChildren();
  }

  function line(index) {
    const made = element("tr", "");
    made.append(element("td", "", String(index + 1)));
    [...names].forEach((name, place) => {
      const [cell, box] = [element("td", ""), element("input", "")];
      box.type = "text";
      box.inputMode = "decimal";
      box.setAttribute("aria-label", `${name} of bubble ${index + 1}, in side lengths`);
      box.setAttribute("data-lm-suppress-shortcuts", "true");
      box.addEventListener("focus", () => shown.state.selected !== index && tools.ask("select", { index }));
      box.addEventListener("change", () => take(index, place));
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter") take(index, place);
        if (event.key !== "Escape") return;
        typed = null;
        box.value = written(shown.state.bubbles[index][place]);
      });
      cell.append(box);
      made.append(cell);
    });
    return made;
  }

  function take(index, place) {
    const row = shown.state.bubbles[index];
    const boxes = [...body.children[index].querySelectorAll("input")];
    if (boxes.every((box, k) => box.value === written(row[k]))) return;
    // A number that only looks shorter than it is stays what it is.
    const next = boxes.map((box, k) => (box.value === written(row[k]) ? row[k] : box.value));
    typed = { index, place, was: String(row), seq: Infinity };
    typed.seq = tools.ask("place", { index, row: next });
  }

  return { root, show };
}

function written(value) {
  return String(Number(value.toFixed(4)));
}
