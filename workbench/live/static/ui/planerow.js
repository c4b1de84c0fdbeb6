import { element } from "./page.js";
import { bind, control, labelled, selectOf } from "./traits.js";

// A row that says which plane of a cube is shown, normal to which axis, and where. trait: of the place; limits: of its slider;
// say(axis, place): where it is in words; shown(place) is called after a change with the slider.
export function planeRow(model, { kind, trait, spoken, limits, say, shown = () => {} }) {
  const row = element("div", "wb-fieldrow wb-section");
  const normal = selectOf(`${kind} normal to`, ["x", "y", "z"], (axis) => `normal to ${axis}`);
  const place = control("range", spoken, limits);
  const where = element("span", "");
  row.append(labelled(kind, normal), place, where);
  const bound = bind(model, { normal, [trait]: place }, () => {
    where.textContent = say(normal.value, Number(place.value));
    place.setAttribute("aria-valuetext", where.textContent);
    shown(place);
  });
  return { row, place, ...bound };
}
