import { element, press } from "../ui/page.js";
import { follow, setTraits } from "../ui/traits.js";
import { mathLine } from "../stepping/typeset.js";

// The lines of a method, which are moved by dragging or by two buttons each, with what is said of each line.

// Pixels that a pointer moves before a line follows it.
const STILL = 4;
const MARKS = { "": "", new: "new here", moved: "moved here", gone: "replaced", differs: "gives another value than in CG" };

function render({ model, el }) {
  const root = element("div", "wb-view wb-order");
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const heading = element("div", "wb-part", "");
  const list = element("ol", "wb-lines");
  root.append(heading, list);
  el.append(root);
  let lines = [];
  let held = null; // {from, to, y, moved}

  function draw() {
    lines = model.get("value").split("\n");
    heading.textContent = model.get("title");
    heading.hidden = !model.get("title");
    list.setAttribute("aria-label", model.get("title") || "lines of an iteration");
    list.style.setProperty("--wb-widest", Math.max(...lines.map((line) => line.length)));
    const fixed = model.get("fixed");
    list.classList.toggle("wb-movable", !fixed);
    list.replaceChildren(...lines.map((line, k) => rowOf(line, k, fixed)));
    say();
  }

  function rowOf(line, k, fixed) {
    const row = element("li", "");
    const code = element("code", "wb-code wb-mathematics");
    code.append(...mathLine(line));
    code.title = line;
    row.append(code, element("span", "wb-value", ""));
    if (!fixed) {
      const tools = element("span", "wb-movers");
      tools.append(mover("▲", "up", k, k - 1), mover("▼", "down", k, k + 1));
      row.append(tools);
      row.addEventListener("pointerdown", (event) => take(event, row, k));
    }
    return row;
  }

  function mover(sign, way, from, to) {
    const made = press(sign, `move line ${from + 1} ${way}: ${lines[from]}`, () => {
      move(from, to);
      // The button that was pressed is gone; the one of the line where it is now takes its place.
      list.children[to].querySelectorAll("button")[way === "up" ? 0 : 1].focus();
    });
    made.setAttribute("aria-label", made.title);
    made.disabled = to < 0 || to >= lines.length;
    return made;
  }

  // What the kernel says of the lines, which comes after they were moved.
  function say() {
    const [notes, marks] = [model.get("notes"), model.get("marks")];
    [...list.children].forEach((row, k) => {
      row.querySelector(".wb-value").textContent = notes[k] ?? "";
      row.dataset.mark = marks[k] ?? "";
      row.title = MARKS[row.dataset.mark] ?? "";
    });
  }

  function move(from, to) {
    if (to === from || to < 0 || to >= lines.length) return;
    const moved = [...lines];
    moved.splice(to, 0, ...moved.splice(from, 1));
    setTraits(model, { notes: [], marks: [], value: moved.join("\n") });
    draw();
  }

  function take(event, row, from) {
    if (event.button || event.target.closest("button")) return;
    event.preventDefault();
    row.setPointerCapture(event.pointerId);
    held = { from, to: from, y: event.clientY, moved: false };
    const drag = ({ clientY }) => {
      held.moved ||= Math.abs(clientY - held.y) > STILL;
      if (!held.moved) return;
      const middles = [...list.children].map((each) => each.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2);
      held.to = middles.filter((middle, k) => k !== from && middle < clientY).length;
      row.classList.add("wb-held");
      [...list.children].forEach((each, k) => {
        each.classList.toggle("wb-before", held.to < from && k === held.to);
        each.classList.toggle("wb-behind", held.to > from && k === held.to);
      });
    };
    const drop = () => {
      row.removeEventListener("pointermove", drag);
      const { to, moved } = held;
      held = null;
      for (const each of list.children) each.classList.remove("wb-held", "wb-before", "wb-behind");
      if (moved) move(from, to);
    };
    row.addEventListener("pointermove", drag);
    row.addEventListener("pointerup", drop, { once: true });
    row.addEventListener("pointercancel", drop, { once: true });
  }

  // A line in the hand stays there.
  const forgotten = [follow(model, ["value", "title", "fixed"], () => held || draw()), follow(model, ["notes", "marks"], say)];
  draw();
  return () => {
    for (const forget of forgotten) forget();
    root.remove();
  };
}

export default { render };
