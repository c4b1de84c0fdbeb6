import { element } from "../ui/page.js";
import { typeset } from "../ui/numbers.js";

// The colours of the cells in words: densities are relative to that inside the bubbles.

export function buildersLegend(shown) {
  const root = element("ul", "wb-legend wb-words");
  const [inside, outside] = [entry("wb-patch"), entry("wb-patch")];
  const [wall, held] = [entry("wb-patch wb-neumann"), entry("wb-patch wb-dirichlet")];
  wall.text.textContent = "wall (Neumann)";
  held.text.textContent = "fixed pressure (Dirichlet); click a side to change it";
  root.append(...[inside, outside, wall, held].map(({ line }) => line));

  function show() {
    const { density_ratio: ratio } = shown.state;
    inside.patch.style.background = shown.colours.inside;
    outside.patch.style.background = shown.colours.outside;
    inside.text.textContent = "inside: density 1, coefficient 1";
    outside.text.textContent = `outside: density ${typeset(1 / ratio)}, coefficient ${typeset(ratio)} (relative)`;
  }

  return { root, show };
}

function entry(name) {
  const [line, patch, text] = [element("li", ""), element("span", name), element("span", "")];
  line.append(patch, text);
  return { line, patch, text };
}
