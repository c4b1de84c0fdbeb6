import { element } from "../ui/page.js";

// Where the plane lies in the cube: normal to which axis, and at which place.

export function slicer(model, shown, changed) {
  const row = element("div", "wb-fieldrow wb-section");
  const normal = element("select", "");
  normal.setAttribute("aria-label", "plane normal to");
  for (const side of ["x", "y", "z"]) normal.append(new Option(`normal to ${side}`, side));
  const place = element("input", "");
  Object.assign(place, { type: "range", min: 0, max: 1, step: 0.005 });
  place.setAttribute("aria-label", "place of the plane");
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  const where = element("span", "");
  row.append(element("span", "", "plane"), normal, place, where);

  function pull() {
    [shown.normal, shown.position] = [model.get("normal"), model.get("position")];
    normal.value = shown.normal;
    place.value = String(shown.position);
    where.textContent = `${shown.normal} = ${shown.position.toFixed(3)}`;
    place.setAttribute("aria-valuetext", where.textContent);
    changed();
  }

  function push() {
    model.set("normal", normal.value);
    model.set("position", Number(place.value));
    model.save_changes();
  }

  normal.addEventListener("change", push);
  place.addEventListener("input", push);
  const names = ["change:normal", "change:position"];
  for (const name of names) model.on(name, pull);
  return {
    row,
    pull,
    close() {
      for (const name of names) model.off(name, pull);
    },
  };
}
