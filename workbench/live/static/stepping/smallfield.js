import { mapOf, wordsOf } from "../field/colormaps.js";
import { element } from "../ui/page.js";
import { theme } from "../ui/theme.js";

// Vectors on a grid and small matrices as small pictures: blue below zero, red above it.

// Cells of a side up to which they are counted, and the pixels that each then has.
const COUNTED = 8;
const CELL = 24;

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
  if (Math.max(width, height) <= COUNTED) rule(canvas, context, width, height);
}

// The same with lines between its cells, so that equal ones next to each other can be counted.
function rule(canvas, context, width, height) {
  const plain = element("canvas", "");
  [plain.width, plain.height] = [width, height];
  plain.getContext("2d").drawImage(canvas, 0, 0);
  [canvas.width, canvas.height] = [width * CELL, height * CELL];
  context.imageSmoothingEnabled = false;
  context.drawImage(plain, 0, 0, canvas.width, canvas.height);
  for (let i = 1; i < width; i += 1) context.clearRect(i * CELL - 1, 0, 2, canvas.height);
  for (let j = 1; j < height; j += 1) context.clearRect(0, j * CELL - 1, canvas.width, 2);
}
