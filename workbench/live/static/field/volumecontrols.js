import { element } from "../ui/page.js";
import { whenNew } from "../transport/throttle.js";
import { levelWords } from "./volumescales.js";

// What the 3D view draws: the quantity and its colours, and each part on or off, with its slider.

const PARTS = ["slices", "surface", "phases", "subdomains"];
const NAMES = { slices: "slices", surface: "isosurface", phases: "phases", subdomains: "subdomains" };
const CHOICES = {
  quantity: ["field", ["coefficient", "solution", "residual", "error"]],
  colours: ["colours", ["automatic", "linear", "logarithmic"]],
};

// solid() says whether there is a cube, or only its slices.
export function volumeControls(model, changed, solid) {
  const rows = element("div", "wb-fieldrow wb-volumerows");
  const selects = Object.fromEntries(Object.entries(CHOICES).map(([trait, [name, options]]) => {
    const select = input(element("select", ""), name);
    for (const option of options) select.append(new Option(option));
    rows.append(labelled(name, select));
    return [trait, select];
  }));
  const checks = Object.fromEntries(PARTS.map((name) => [name, input(element("input", ""), NAMES[name], "checkbox")]));
  const sliders = { level: slider("level of the isosurface"), apart: slider("subdomains drawn apart") };
  const level = element("span", "wb-levelwords");
  const roots = Object.fromEntries(PARTS.map((name) => {
    const root = element("label", "");
    root.append(checks[name], NAMES[name]);
    return [name, root];
  }));
  const levels = group(roots.surface, sliders.level, level);
  const pieces = group(roots.subdomains, labelled("apart", sliders.apart));
  rows.append(roots.slices, roots.phases, levels, pieces);
  let [shades, still] = [null, null];

  function pull() {
    for (const trait of Object.keys(selects)) selects[trait].value = model.get(trait);
    for (const name of PARTS) checks[name].checked = model.get(name);
    for (const name of Object.keys(sliders)) sliders[name].value = String(model.get(name));
    const words = shades ? levelWords(shades, model.get("level")) : "";
    level.textContent = words;
    sliders.level.setAttribute("aria-valuetext", words);
    const share = `${Math.round(100 * model.get("apart"))} %`;
    sliders.apart.setAttribute("aria-valuetext", share);
    const own = model.get("quantity") === "coefficient";
    const cube = solid();
    roots.phases.hidden = !cube || own || !still?.phases;
    levels.hidden = !cube || (own && !still?.phases);
    pieces.hidden = !cube || !(still?.pieces > 1);
    sliders.level.disabled = !checks.surface.checked;
    sliders.apart.disabled = !checks.subdomains.checked;
  }

  function set(trait, value) {
    model.set(trait, value);
    model.save_changes();
  }

  for (const [trait, select] of Object.entries(selects)) select.addEventListener("change", () => set(trait, select.value));
  for (const [name, box] of Object.entries(checks)) box.addEventListener("change", () => set(name, box.checked));
  for (const [name, range] of Object.entries(sliders)) range.addEventListener("input", () => set(name, Number(range.value)));
  const traits = [...Object.keys(selects), ...PARTS, ...Object.keys(sliders)].map((name) => `change:${name}`);
  const follow = () => {
    pull();
    changed();
  };
  for (const trait of traits) model.on(trait, follow);
  const know = whenNew((reported, kept) => {
    [shades, still] = [reported, kept];
    pull();
  });
  pull();
  return {
    rows,
    // The scale that is shown, and what stays as it is.
    know: ({ low, high, scale, signed, threshold } = {}, { phases, pieces: count } = {}) =>
      know(scale ? { low, high, scale, signed, threshold } : null, { phases, pieces: count }),
    close: () => traits.forEach((trait) => model.off(trait, follow)),
  };
}

function input(made, name, type) {
  if (type) made.type = type;
  made.setAttribute("aria-label", name);
  made.setAttribute("data-lm-suppress-shortcuts", "true");
  return made;
}

function slider(name) {
  return Object.assign(input(element("input", ""), name, "range"), { min: 0, max: 1, step: 0.005 });
}

function labelled(name, control) {
  const root = element("label", "", name);
  root.append(control);
  return root;
}

function group(...parts) {
  const made = element("div", "wb-parts");
  made.append(...parts);
  return made;
}
