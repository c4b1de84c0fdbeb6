import { tellKernel } from "../transport/kernel.js";
import { counted } from "../ui/numbers.js";
import { element, press } from "../ui/page.js";
import { control, follow, setTraits } from "../ui/traits.js";
import { link, copied } from "../transport/link.js";
import { codeLine, mathLine } from "./typeset.js";
import { removalPlot } from "./removal.js";
import { smallPlot } from "./smallplot.js";
import { smallFields } from "./smallfield.js";

// A method line by line: buttons, the lines with their values, a small plot, and the vectors.

const KEYS = {
  ArrowRight: "next_line", ArrowLeft: "back", ArrowDown: "next_iteration", ArrowUp: "previous_iteration", " ": "toggle", Home: "restart",
};
// In sight at once.
const MOST_LINES = 30;
const NAMES = { start: "Before the loop", iterate: "In every iteration" };

function render({ model, el }) {
  const root = element("div", "wb-view wb-steps");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  const program = model.get("program");
  const act = (name) => tellKernel(model, { act: name });
  const heading = element("div", "wb-heading", program.title);
  root.setAttribute("aria-label", `${program.title}, line by line. Right and Left: a line. Down and Up: an iteration.`);
  const bar = element("div", "wb-bar");
  const button = (text, tip, name) => {
    const made = press(text, tip, () => act(name));
    bar.append(made);
    return made;
  };
  const back = button("Back", "take the last line back (Left)", "back");
  const next = button("Next line", "run one more line (Right)", "next_line");
  const further = button("Next iteration", "run to the end of the iteration (Down)", "next_iteration");
  const play = button("Play", "a line every half second (Space)", "toggle");
  const restart = button("Restart", "go back to where nothing has run (Home)", "restart");
  const [slider, number] = iterationSlider(bar, program.iterations, (iteration) => tellKernel(model, { iteration }));
  const symbols = () => setTraits(model, { mathematics: !model.get("mathematics") });
  const mathematics = press("Mathematics", "write the lines as mathematics, with the names of the file as tooltips", symbols);
  bar.append(mathematics);
  const levels = program.removers.length ? button("Levels", "what M and each level of the coarse solve remove from the error", "toggle_levels") : null;
  const said = element("div", "wb-status wb-busy");
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  const [body, listing, side, plot, tiles] = ["wb-stepping", "wb-listing", "wb-side", "", "wb-tiles"].map((name) => element("div", name));
  const widest = Math.max(...program.listings.flatMap(({ texts }) => texts.map((text) => text.length)));
  listing.style.setProperty("--wb-widest", widest);
  body.classList.toggle("wb-sided", program.sided);
  const longest = Math.max(...program.listings.slice(1).map(({ texts }) => texts.length), 0);
  listing.classList.toggle("wb-long", program.listings[0].texts.length + longest > MOST_LINES);
  tiles.style.setProperty("--wb-abreast", program.abreast);
  tiles.classList.toggle("wb-several", program.abreast > 1);
  if (program.sided) listing.append(sides());
  const rows = { start: section(listing, "start", program, 0), iterate: section(listing, "iterate", program, Math.min(1, program.listings.length - 1)) };
  listing.append(element("div", "wb-meaning", `${program.meaning}. Made: ${counted(program.completed, "iteration")}; ${program.ending}.`));
  const hint = program.drawn ? "Blue below zero, red above. What was just written has a frame." : "Vectors are drawn on 2D grids of up to 64 × 64 cells.";
  const several = program.columns > 1 ? "; one of each for every right-hand side" : "";
  side.append(plot, element("div", "wb-note", `line: residual of the recurrence; rings: true residual b − Ax${several}`), tiles, element("div", "wb-note", hint));
  body.append(listing, side);
  const removal = element("section", "wb-removal");
  removal.hidden = true;
  root.append(heading, bar, said, body, removal);
  const drawRemoval = removalPlot(removal, program.removers);
  const [drawCurve, endCurve] = smallPlot(plot);
  const drawFields = smallFields(tiles);
  let playing = false;
  typeset();

  function typeset() {
    const asMathematics = model.get("mathematics");
    mathematics.setAttribute("aria-pressed", String(asMathematics));
    for (const { lines } of Object.values(rows)) {
      for (const { code, text, formula } of lines) {
        const shown = formula ? [asMathematics ? formula.replace(" = ", " ← ") : text] : (asMathematics ? mathLine : codeLine)(text);
        code.replaceChildren(...shown);
        code.classList.toggle("wb-mathematics", asMathematics);
        code.title = asMathematics ? text : "";
      }
    }
    mark();
  }

  // The name that was just written, wherever it is read.
  function mark() {
    for (const name of listing.querySelectorAll(".wb-name")) {
      name.classList.toggle("wb-fresh", name.dataset.name === root.dataset.target);
    }
    point();
  }

  // The name at which a text points, in lines and pictures; of a block, all its columns.
  function point() {
    const pointed = model.get("pointed");
    const is = (name) => Boolean(pointed) && name.split(" of ").at(-1) === pointed;
    for (const each of root.querySelectorAll(".wb-name, .wb-tile")) each.classList.toggle("wb-pointed", is(each.dataset.name));
    // A line in words has no names within, and is marked as a whole by what it sets.
    for (const { lines } of Object.values(rows)) for (const { code, formula, target } of lines) code.classList.toggle("wb-pointed", Boolean(formula) && is(target));
  }

  function apply(state, buffer) {
    const { iteration, lines, place } = state;
    playing = state.playing;
    if (rows.iterate.put(state.listing)) typeset();
    for (const [part, list] of Object.entries(rows)) {
      const here = (part === "start") === (iteration === 0);
      list.lines.forEach(({ row, value }, k) => {
        const current = here && k === lines - 1;
        row.classList.toggle("wb-current", current);
        row.classList.toggle("wb-waiting", here ? k >= lines : part === "iterate");
        row.classList.toggle("wb-past", !here && part === "start");
        if (current) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
        value.replaceChildren(...aligned(state.values[part][k]));
      });
    }
    if (lines) bringIntoSight(listing, rows[iteration ? "iterate" : "start"].lines[lines - 1].row);
    rows.iterate.heading.textContent = iteration ? `Iteration ${iteration}` : NAMES.iterate;
    said.textContent = state.sentence;
    [slider.value, number.textContent] = [iteration, `${iteration} of ${program.iterations}`];
    [back.disabled, restart.disabled] = [place === 0, place === 0];
    [next.disabled, further.disabled, play.disabled] = [state.last, state.last, state.last];
    play.textContent = playing ? "Pause" : "Play";
    const target = lines ? rows[iteration ? "iterate" : "start"].lines[lines - 1].target : "";
    Object.assign(root.dataset, { iteration, lines, place, target, playing, pictures: state.pictures.length });
    mark();
    drawCurve(state.curve);
    removal.hidden = !state.removal;
    levels?.setAttribute("aria-pressed", String(!removal.hidden));
    if (state.removal) drawRemoval(state.removal);
    drawFields(state.pictures, copied(buffer, Uint8Array));
    point();
    wire.painted(state.seq);
    return playing;
  }

  root.addEventListener("keydown", (event) => {
    // A slider and a button have keys of their own.
    const own = event.target === slider || (event.target.tagName === "BUTTON" && event.key === " ");
    if (own || !(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act(KEYS[event.key]);
  });
  const forgotten = [follow(model, ["mathematics"], typeset), follow(model, ["pointed"], point)];
  const wire = link(model, apply);
  return () => {
    for (const forget of forgotten) forget();
    wire.close();
    endCurve();
    root.remove();
  };
}

// A name and its value, so that the signs = of all lines are below each other.
function aligned(text) {
  const [named, number] = text.split(" = ");
  if (number === undefined) return text ? [element("span", "", text)] : [];
  return [element("span", "", named), element("span", "", ` = ${number}`)];
}

function iterationSlider(bar, most, chosen) {
  const [caption, number] = [element("label", "wb-slide", "iteration"), element("output", "wb-of")];
  const slider = control("range", "iteration", { min: 0, max: most, step: 1, value: 0 });
  slider.addEventListener("input", () => chosen(Number(slider.value)));
  caption.append(slider);
  bar.append(caption, number);
  return [slider, number];
}

function section(listing, part, program, first) {
  const heading = element("div", "wb-part", NAMES[part]);
  const list = element("ol", "wb-lines");
  listing.append(heading, list);
  const made = { heading, lines: [], put };
  let shown = -1;
  put(first);
  return made;

  // Other lines where an iteration runs others; whether it does.
  function put(number) {
    if (number === shown) return false;
    shown = number;
    const { texts, formulas, targets, sides, arrows } = program.listings[number];
    made.lines = texts.map((text, k) => {
      const row = element("li", sides[k] ? `wb-on-${sides[k]}` : "");
      const [code, value] = [element("code", "wb-code"), element("span", "wb-value")];
      row.dataset.code = text;
      if (arrows[k]) row.append(element("span", "wb-arrow", arrows[k]));
      row.append(code, value);
      return { row, code, value, text, formula: formulas[k], target: targets[k] };
    });
    list.replaceChildren(...made.lines.map(({ row }) => row));
    return true;
  }
}

function sides() {
  const head = element("div", "wb-sides");
  head.append(element("span", "", "cores"), element("span", "", "accelerator"));
  return head;
}

// Scrolls the lines and not the page, as scrollIntoView would.
function bringIntoSight(listing, row) {
  const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
  const seen = top >= listing.scrollTop && bottom <= listing.scrollTop + listing.clientHeight;
  if (!seen) listing.scrollTop = top - listing.clientHeight / 2;
}

export default { render };
