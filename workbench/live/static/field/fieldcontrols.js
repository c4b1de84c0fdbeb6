import { grouped } from "../ui/axes.js";
import { element } from "../ui/page.js";
import { whenNew } from "../transport/throttle.js";

// The controls of the field: which one and in which colours, the subdomains on or off, those of which level of the coarse
// solver, and in 3D the section.

const FIELDS = ["coefficient", "solution", "residual", "error"];
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

// Of the states that were kept while a run went on, one is shown.
export function frameControl(model) {
  const row = element("div", "wb-fieldrow");
  const place = element("input", "");
  Object.assign(place, { type: "range", min: 0, step: 1 });
  place.setAttribute("aria-label", "iteration that is shown");
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  const where = element("span", "");
  row.append("iteration", place, where);
  row.hidden = true;
  let iterations = [];

  const pull = () => {
    place.value = String(model.get("frame"));
    where.textContent = iterations.length ? grouped(iterations[Number(place.value)]) : "";
    place.setAttribute("aria-valuetext", `iteration ${where.textContent}`);
  };
  place.addEventListener("input", () => {
    model.set("frame", Number(place.value));
    model.save_changes();
    pull();
  });
  model.on("change:frame", pull);
  const show = whenNew((frames) => {
    iterations = frames;
    row.hidden = frames.length < 2;
    place.max = String(Math.max(0, frames.length - 1));
    pull();
  });
  return {
    row,
    show: ({ frames = [] }) => show(frames),
    close: () => model.off("change:frame", pull),
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
