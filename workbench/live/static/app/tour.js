import { button, element } from "../ui/page.js";

// A tour of the page: a card next to each of a few parts, which has a ring. At RUN a run is started, so that those after
// it have something to show, and at LOOK it is chosen. It can be left at any time, also by Escape.

const [RUN, LOOK] = ["Run it", "Look inside a run"];
const SETTLING_MS = 2000;
const STEPS = [
  ["build", ".wb-page-build", "Build a problem", "Draw bubbles, write the coefficients of a Poisson problem, or open a matrix. Every other view works on it."],
  ["solve", ".wb-form [data-field=preconditioner]", "Choose a method", "The solver, level 1 (a preconditioner) and level 2 (deflation). “Help” has the formula, the cost and the source of each."],
  ["solve", ".wb-runbar", RUN, "A run has just been started. R runs, S stops, +1 makes one iteration. The hatched part is setup, the solid part iterations."],
  ["solve", ".wb-solving .wb-convergence", "Watch it converge", "The residual after each iteration. A good method is a steep line; a plateau is a component that CG reduces slowly."],
  ["compare", ".wb-page-compare", "Compare methods", "A race runs several methods on the problem that the header names: four that fit it are there, press Start. A sweep varies one or two parameters. Times include the setup."],
  ["flow", ".wb-page-flow", "Solve at every time step", "Bubbles rise, and each time step solves a pressure equation. Press Play; two methods race on it."],
  ["papers", ".wb-page-papers .wb-shelf section", "Compare with papers", "Tables and figures of papers next to what this workbench computes. Open one and move its parameters."],
  ["inspect", ".wb-page-inspect .wb-timeline", LOOK, "Each box is a kernel of the run that the tour has made. Learn has the method line by line."],
];

// go: turns to a view. tell: the kernel, "tour" at RUN and "tour-look" at LOOK.
export function startTour(root, go, tell) {
  const card = element("div", "wb-tour");
  card.popover = "manual";
  card.setAttribute("role", "dialog");
  card.setAttribute("aria-label", "Tour");
  card.tabIndex = -1;
  const ring = element("div", "wb-toured");
  ring.popover = "manual";
  root.append(ring, card);
  const before = document.activeElement;
  const steps = STEPS.filter(([view]) => root.querySelector(`.wb-page-${view}`));
  let [place, frame, shown] = [0, 0, 0];

  function show() {
    const [view, , title, words] = steps[place];
    go(view);
    if (title === RUN) tell("tour");
    if (title === LOOK) tell("tour-look");
    lookedAt()?.scrollIntoView({ block: "nearest" });
    ring.showPopover();
    cancelAnimationFrame(frame);
    const acts = element("div", "wb-acts");
    const back = button("wb-btn", "Back", () => move(-1));
    back.disabled = place === 0;
    const next = button("wb-btn wb-primary", place + 1 < steps.length ? "Next" : "Done", () => move(1));
    acts.append(button("wb-link", "Leave the tour", end), element("span", "wb-fill"), back, next);
    card.replaceChildren(element("p", "wb-note", `${place + 1} of ${steps.length}`), element("h3", "", title), element("p", "", words), acts);
    card.showPopover();
    shown = performance.now();
    encircle();
    next.focus();
  }

  // Next to or below what it is about; over that only where it leaves no room, and then in the corner.
  function put(box) {
    const [width, height] = [card.offsetWidth, card.offsetHeight];
    const right = box && box.right + width + 16 < document.documentElement.clientWidth;
    const left = right ? box.right + 12 : Math.min(box?.left ?? 80, document.documentElement.clientWidth - width - 16);
    const top = right ? box.top : (box?.bottom ?? 80) + height + 16 < innerHeight ? (box?.bottom ?? 80) + 12 : innerHeight - height - 24;
    const covers = box && !right && top < box.bottom && box.height > innerHeight / 2;
    card.style.left = `${Math.max(8, covers ? document.documentElement.clientWidth - width - 24 : left)}px`;
    card.style.top = `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`;
  }

  function lookedAt() {
    const [, selector] = steps[place];
    return [...root.querySelectorAll(selector)].find((found) => found.checkVisibility());
  }

  // In every frame: what is looked at grows, is scrolled, made anew, and moves when a result comes above it. Drawn above
  // everything, no edge is cut off.
  function encircle() {
    const box = lookedAt()?.getBoundingClientRect();
    ring.hidden = !box;
    if (box) Object.assign(ring.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` });
    // A view that was turned to fills in some frames; later, and under the pointer, the card stays where its buttons are.
    if (performance.now() < shown + SETTLING_MS && !card.matches(":hover")) put(box);
    frame = requestAnimationFrame(encircle);
  }

  function move(by) {
    place += by;
    if (place >= steps.length) end();
    else show();
  }

  function end() {
    cancelAnimationFrame(frame);
    ring.remove();
    card.remove();
    before?.focus?.();
  }

  card.addEventListener("keydown", (event) => {
    const acts = { Escape: end, ArrowRight: () => move(1), ArrowLeft: () => place > 0 && move(-1) };
    if (!(event.key in acts)) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  });
  show();
}
