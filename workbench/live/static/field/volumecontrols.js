import { element } from "../ui/page.js";
import { bind, control, follow, labelled, selectOf } from "../ui/traits.js";
import { whenNew } from "../transport/throttle.js";
import { FIELDS, SCALES } from "./quantities.js";
import { levelWords } from "./volumescales.js";

// What the 3D view draws: the quantity and its colours, and each part on or off, with its slider.

const PARTS = ["slices", "surface", "phases", "subdomains"];
const NAMES = { slices: "slices", surface: "isosurface", phases: "phases", subdomains: "subdomains" };
const SHARE = { min: 0, max: 1, step: 0.005 };

// solid() says whether there is a cube, or only its slices.
export function volumeControls(model, changed, solid) {
  const rows = element("div", "wb-fieldrow wb-volumerows");
  const selects = { quantity: selectOf("field", FIELDS), colours: selectOf("colours", SCALES) };
  rows.append(labelled("field", selects.quantity), labelled("colours", selects.colours));
  const checks = Object.fromEntries(PARTS.map((name) => [name, control("checkbox", NAMES[name])]));
  const sliders = { level: control("range", "level of the isosurface", SHARE), apart: control("range", "subdomains drawn apart", SHARE) };
  const level = element("span", "wb-levelwords");
  const roots = Object.fromEntries(PARTS.map((name) => [name, labelled(NAMES[name], checks[name])]));
  const levels = group(roots.surface, sliders.level, level);
  const pieces = group(roots.subdomains, labelled("apart", sliders.apart));
  rows.append(roots.slices, roots.phases, levels, pieces);
  let [shades, still] = [null, null];

  const controls = { ...selects, ...checks, ...sliders };
  const bound = bind(model, controls, () => {
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
  });
  const forget = follow(model, Object.keys(controls), changed);
  const know = whenNew((reported, kept) => {
    [shades, still] = [reported, kept];
    bound.pull();
  });
  return {
    rows,
    // The scale that is shown, and what stays as it is.
    know: ({ low, high, scale, signed, threshold } = {}, { phases, pieces: count } = {}) =>
      know(scale ? { low, high, scale, signed, threshold } : null, { phases, pieces: count }),
    close() {
      forget();
      bound.close();
    },
  };
}

function group(...parts) {
  const made = element("div", "wb-parts");
  made.append(...parts);
  return made;
}
