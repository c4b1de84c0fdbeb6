import { mapOf, wordsOf } from "../field/colormaps.js";
import { element } from "../ui/page.js";
import { theme } from "../ui/theme.js";

// Vectors on a grid and small matrices as small pictures: blue below zero, red above it.

export function smallFields(host) {
  const kept = new Map();

  return (reported, bytes) => {
    let first = 0;
    const colours = wordsOf(mapOf({ signed: true }, theme(host)));
    const shown = reported.map((about) => {
      const { name, label, words: said, fresh, width, height } = about;
      if (!kept.has(name)) kept.set(name, tile(label));
      const { root, canvas, words } = kept.get(name);
      root.dataset.name = name;
      paint(canvas, bytes.subarray(first, first + width * height), width, height, colours);
      first += width * height;
      root.classList.toggle("wb-fresh", fresh);
      root.classList.toggle("wb-begins", about.begins);
      words.textContent = said;
      canvas.setAttribute("aria-label", `${label}, ${said}${fresh ? ", just written" : ""}`);
      return root;
    });
    host.replaceChildren(...shown);
  };
}

function tile(label) {
  const [root, canvas] = [element("figure", "wb-tile"), element("canvas", "")];
  canvas.setAttribute("role", "img");
  const caption = element("figcaption", "");
  const words = element("span", "");
  caption.append(element("i", "wb-m", label), " ", words);
  root.append(canvas, caption);
  return { root, canvas, words };
}

function paint(canvas, cells, width, height, colours) {
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  new Uint32Array(data.data.buffer).set(Uint32Array.from(cells, (level) => colours[level]));
  context.putImageData(data, 0, 0);
}
