import { grouped } from "../ui/axes.js";
import { element, press, write } from "../ui/page.js";
import { atMost, whenNew } from "../transport/throttle.js";

// The controls of the field: which one and in which colours, the subdomains on or off, those of which level of the coarse
// solver, and in 3D the section.

const FIELDS = ["coefficient", "solution", "residual", "error"];
// Milliseconds between two frames of a film that is played, and between two that the kernel hears of.
const [FRAME, TURN] = [140, 60];
const SCALES = ["automatic", "linear", "logarithmic"];

export function fieldChoices(model) {
  const row = element("div", "wb-fieldrow");
  const quantity = choice("field", FIELDS);
  const colours = choice("colours", SCALES);
  const overlay = element("input", "");
  overlay.type = "checkbox";
  const outlined = element("label", "", "");
  outlined.append(overlay, "subdomains");
  const level = choice("of", [], undefined, "level of the coarse solver");
  row.append(quantity.root, colours.root, outlined, level.root);
  let levels = [];

  const pull = () => {
    quantity.select.value = model.get("quantity");
    colours.select.value = model.get("colours");
    overlay.checked = model.get("overlay");
    level.select.value = String(Math.min(model.get("level"), levels.length - 1));
    level.root.hidden = !(levels.length && overlay.checked);
    row.hidden = !model.get("choices");
  };
  const push = () => {
    model.set("quantity", quantity.select.value);
    model.set("colours", colours.select.value);
    model.set("overlay", overlay.checked);
    if (levels.length) model.set("level", Number(level.select.value));
    model.save_changes();
  };
  for (const control of [quantity.select, colours.select, overlay, level.select]) control.addEventListener("change", push);
  const traits = ["quantity", "colours", "overlay", "level", "choices"].map((name) => `change:${name}`);
  for (const trait of traits) model.on(trait, pull);
  pull();
  const show = whenNew((matrix, shown, divided, names) => {
    quantity.select.options[0].text = matrix ? "pattern" : "coefficient";
    colours.root.hidden = shown === "coefficient";
    outlined.hidden = !divided;
    levels = names;
    level.select.replaceChildren(...levels.map((name, place) => new Option(name, String(place))));
    pull();
  });
  return {
    row,
    show: (content) => show(content.matrix, content.quantity, content.outlined, content.levels),
    close: () => traits.forEach((trait) => model.off(trait, pull)),
  };
}

// In 3D one plane of cells is shown: normal to which side, and where.
export function sectionControls(model) {
  const row = element("div", "wb-fieldrow wb-section");
  const normal = choice("section", ["x", "y", "z"], (side) => `normal to ${side}`, "section normal to");
  const place = element("input", "");
  Object.assign(place, { type: "range", min: 0, step: 1 });
  place.setAttribute("aria-label", "section plane");
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  const where = element("span", "");
  row.append(normal.root, place, where);
  row.hidden = true;
  let cells = 0;

  const tell = () => {
    where.textContent = `${normal.select.value} = ${((Number(place.value) + 0.5) / Math.max(1, cells)).toFixed(3)}`;
    place.setAttribute("aria-valuetext", where.textContent);
  };
  const pull = () => {
    normal.select.value = model.get("normal");
    place.value = String(model.get("index"));
    tell();
  };
  const push = () => {
    model.set("normal", normal.select.value);
    model.set("index", Number(place.value));
    model.save_changes();
    tell();
  };
  normal.select.addEventListener("change", push);
  place.addEventListener("input", push);
  model.on("change:normal", pull);
  model.on("change:index", pull);
  const show = whenNew((count) => {
    cells = count;
    row.hidden = !cells;
    place.max = String(Math.max(0, cells - 1));
    pull();
  });
  return {
    row,
    show: (content) => show(content.cells),
    close() {
      model.off("change:normal", pull);
      model.off("change:index", pull);
    },
  };
}

// The film of a run: a slider over the iterations that were kept, and a button that plays them. The last one is the present
// state. move(iteration) hears what the slider shows.
export function filmControl(model, move) {
  const row = element("div", "wb-fieldrow wb-film");
  const play = press("▶", "play the film of this run", () => (timer ? stop() : start()));
  const place = element("input", "");
  Object.assign(place, { type: "range", min: 0, step: 1 });
  place.setAttribute("aria-label", "iteration that is shown");
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  const where = element("span", "");
  const kept = element("span", "wb-note");
  row.append(play, place, where, kept);
  row.hidden = true;
  let iterations = [];
  let timer = 0;
  // The frame before another view pointed at an iteration.
  let before = null;

  const last = () => iterations.length - 1;
  const pull = () => {
    const frame = model.get("frame");
    place.value = String(frame < 0 ? last() : frame);
    where.textContent = iterations.length ? `iteration ${grouped(iterations[Number(place.value)])}` : "";
    place.setAttribute("aria-valuetext", where.textContent);
  };
  const tell = atMost(TURN, () => model.save_changes());
  const show = (frame) => {
    if (model.get("frame") === frame) return;
    model.set("frame", frame);
    tell.call();
    pull();
  };
  const scrub = (frame) => {
    before = null;
    show(frame >= last() ? -1 : frame);
    move(iterations[frame]);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "▶";
    move(null);
  };
  const start = () => {
    const at = Number(place.value);
    scrub(at >= last() ? 0 : at);
    timer = setInterval(() => (Number(place.value) < last() ? scrub(Number(place.value) + 1) : stop()), FRAME);
    play.textContent = "❚❚";
  };
  place.addEventListener("input", () => scrub(Number(place.value)));
  place.addEventListener("change", () => move(null));
  model.on("change:frame", pull);
  const fill = whenNew(({ iterations: found, words }) => {
    iterations = found;
    row.hidden = found.length < 2;
    place.max = String(Math.max(0, last()));
    write(kept, words);
    pull();
  });
  return {
    row,
    show: ({ film = { iterations: [], words: "" } }) => fill(film),
    // Shows the frame nearest to an iteration, until that is null.
    look(iteration) {
      if (timer || iterations.length < 2) return;
      if (iteration === null) {
        if (before !== null) show(before);
        before = null;
        return;
      }
      before ??= model.get("frame");
      const away = iterations.map((one) => Math.abs(one - iteration));
      const nearest = away.indexOf(Math.min(...away));
      show(nearest === last() ? -1 : nearest);
    },
    close() {
      clearInterval(timer);
      tell.cancel();
      model.off("change:frame", pull);
    },
  };
}

function choice(name, options, text = (option) => option, spoken = name) {
  const root = element("label", "", name);
  const select = element("select", "");
  select.setAttribute("aria-label", spoken);
  select.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const option of options) select.append(new Option(text(option), option));
  root.append(select);
  return { root, select };
}
