import { element } from "../ui/page.js";
import { LETTERS } from "./volumeaxes.js";

// A handle for each slice, dragged along its axis or moved by keys; a slider to a screen reader.

const STEPS = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 };
const SHORTEST = 40;

// position() is that of all slices; move(axis, share) is called with a new one of one slice.
export function volumeHandles(host, position, move) {
  const handles = LETTERS.map((letter, axis) => {
    const made = element("div", "wb-cut");
    made.tabIndex = 0;
    made.setAttribute("role", "slider");
    made.setAttribute("aria-label", `slice normal to ${letter}`);
    made.setAttribute("data-lm-suppress-shortcuts", "true");
    for (const [name, value] of [["valuemin", 0], ["valuemax", 1]]) made.setAttribute(`aria-${name}`, value);
    let [held, along] = [null, [1, 0]];
    const set = (share) => move(axis, Math.min(1, Math.max(0, Math.round(1000 * share) / 1000)));
    made.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const ends = { Home: 0, End: 1 };
      if (!(event.key in STEPS) && !(event.key in ends)) return;
      event.preventDefault();
      event.stopPropagation();
      set(ends[event.key] ?? position()[axis] + STEPS[event.key]);
    });
    made.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      made.setPointerCapture(event.pointerId);
      held = { x: event.clientX, y: event.clientY, from: position()[axis] };
    });
    made.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!held) return;
      const [dx, dy] = along;
      // An axis that points at the viewer would leave nothing to drag along.
      const length = Math.max(dx * dx + dy * dy, SHORTEST * SHORTEST);
      set(held.from + ((clientX - held.x) * dx + (clientY - held.y) * dy) / length);
    });
    for (const name of ["pointerup", "pointercancel"]) made.addEventListener(name, () => { held = null; });
    host.append(made);
    return {
      made,
      // place(share) is where the handle lies, in pixels.
      put(place) {
        const share = position()[axis];
        const [low, high, [x, y]] = [place(0), place(1), place(share)];
        along = [high[0] - low[0], high[1] - low[1]];
        made.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
        made.setAttribute("aria-valuenow", share);
        const words = `${letter} = ${share.toFixed(3)}`;
        if (made.textContent !== words) [made.textContent] = [words];
        made.setAttribute("aria-valuetext", words);
      },
    };
  });
  return {
    show: (shown) => handles.forEach(({ made }) => { made.hidden = !shown; }),
    put: (places) => handles.forEach((handle, axis) => handle.put(places[axis])),
  };
}
