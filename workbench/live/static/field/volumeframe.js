import { LETTERS } from "../ui/boxedges.js";
import { element } from "../ui/page.js";

// The room of the 3D view on the page: its three canvases, sharp on every screen, and where places of the cube lie.

// Side lengths that the cube takes on the page, nearly independent of how it is turned.
const ACROSS = 1.6;
const MARGIN = 40;

// changed() is called when the room is another.
export function volumeRoom(plot, { under, cube, over }, heightNow, { widest, tall, words }, changed) {
  const room = { width: 0, height: 0, bar: 0, scale: 1 };

  function lay(canvas, width, height) {
    [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    const [columns, rows] = [Math.max(1, Math.round(width * room.scale)), Math.max(1, Math.round(height * room.scale))];
    if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  }

  function measure() {
    const most = heightNow();
    plot.style.maxWidth = `${widest * most}px`;
    room.width = plot.clientWidth;
    room.height = Math.min(most, Math.max(200, Math.round(tall * room.width) + words));
    room.scale = window.devicePixelRatio || 1;
    plot.style.height = `${room.height}px`;
    for (const canvas of [under, over]) lay(canvas, room.width, room.height);
    lay(cube, Math.max(1, room.width - room.bar), room.height);
    changed();
  }

  const observer = new ResizeObserver(measure);
  observer.observe(plot);
  return Object.assign(room, {
    measure,
    // Pixels at the right that belong to the colour bar.
    keepBar(wide) {
      if (wide === room.bar) return;
      room.bar = wide;
      lay(cube, Math.max(1, room.width - wide), room.height);
    },
    // toPage: from a place of the cube to pixels. span: half of what the cube's canvas shows, in side lengths.
    projection(look, zoom) {
      const [x, y] = [(room.width - room.bar) / 2, room.height / 2];
      const scale = ((2 * Math.min(x, y) - MARGIN) / ACROSS) * zoom;
      const toPage = (place) => {
        const [across, upwards] = look.project(place);
        return [x + across * scale, y - upwards * scale];
      };
      return { toPage, span: [x / scale, y / scale] };
    },
    close: () => observer.disconnect(),
  });
}

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
    let [grabbed, along] = [null, [1, 0]];
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
      grabbed = { x: event.clientX, y: event.clientY, from: position()[axis] };
    });
    made.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (!grabbed) return;
      const [dx, dy] = along;
      // An axis that points at the viewer would leave nothing to drag along.
      const length = Math.max(dx * dx + dy * dy, SHORTEST * SHORTEST);
      set(grabbed.from + ((clientX - grabbed.x) * dx + (clientY - grabbed.y) * dy) / length);
    });
    for (const name of ["pointerup", "pointercancel"]) made.addEventListener(name, () => { grabbed = null; });
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

// How wheel and keys bring the cube closer. Home shows it whole again.

const KEYS_OF_ZOOM = { "+": 1.25, "=": 1.25, "-": 0.8 };
const [SMALLEST, LARGEST] = [0.5, 8];
const PER_PIXEL = 0.004;
const MOST_AT_ONCE = 60;

export function zooming(canvas, zoom, set) {
  const by = (factor) => set(Math.min(LARGEST, Math.max(SMALLEST, zoom() * factor)));
  canvas.addEventListener("wheel", (event) => {
    // A page that is scrolled over the view scrolls on, unless the view is in use.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    by(Math.exp(-PER_PIXEL * Math.max(-MOST_AT_ONCE, Math.min(MOST_AT_ONCE, event.deltaY))));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Home") set(1);
    if (!(event.key in KEYS_OF_ZOOM)) return;
    event.preventDefault();
    event.stopPropagation();
    by(KEYS_OF_ZOOM[event.key]);
  });
}
