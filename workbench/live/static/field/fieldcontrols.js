import { element } from "../ui/page.js";
import { planeRow } from "../ui/planerow.js";
import { bind, control, follow, labelled, selectOf } from "../ui/traits.js";
import { whenNew } from "../transport/throttle.js";
import { FIELDS, SCALES } from "./quantities.js";

// The controls of the field: which one and in which colours, the subdomains on or off, those of which level of the coarse
// solver, and in 3D the section.

export function fieldChoices(model) {
  const row = element("div", "wb-fieldrow");
  const controls = {
    quantity: selectOf("field", FIELDS),
    colours: selectOf("colours", SCALES),
    overlay: control("checkbox", "subdomains"),
    level: selectOf("level of the coarse solver", []),
  };
  const { quantity, overlay, level } = controls;
  const roots = [labelled("field", quantity), labelled("colours", controls.colours), labelled("subdomains", overlay), labelled("of", level)];
  const [, coloured, outlined, levelled] = roots;
  row.append(...roots);
  let levels = [];

  const bound = bind(model, controls, () => {
    level.value = String(Math.min(model.get("level"), levels.length - 1));
    levelled.hidden = !(levels.length && overlay.checked);
    row.hidden = !model.get("choices");
  });
  const forget = follow(model, ["choices"], bound.pull);
  const show = whenNew((matrix, shown, divided, names) => {
    quantity.options[0].text = matrix ? "pattern" : "coefficient";
    coloured.hidden = shown === "coefficient";
    outlined.hidden = !divided;
    levels = names;
    level.replaceChildren(...levels.map((name, place) => new Option(name, String(place))));
    bound.pull();
  });
  return {
    row,
    show: (content) => show(content.matrix, content.quantity, content.outlined, content.levels),
    close() {
      forget();
      bound.close();
    },
  };
}

// In 3D one plane of cells is shown: normal to which side, and where.
export function sectionControls(model) {
  let cells = 0;
  const { row, place, pull, close } = planeRow(model, {
    kind: "section",
    trait: "index",
    spoken: "section plane",
    limits: { min: 0, step: 1 },
    say: (side, index) => `${side} = ${((index + 0.5) / Math.max(1, cells)).toFixed(3)}`,
  });
  row.hidden = true;
  const show = whenNew((count) => {
    cells = count;
    row.hidden = !cells;
    place.max = String(Math.max(0, cells - 1));
    pull();
  });
  return { row, close, show: (content) => show(content.cells) };
}
