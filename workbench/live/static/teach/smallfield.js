import { element } from "../kit/page.js";

// Vectors on a grid as small pictures: blue below zero, orange above it.

const [BELOW, ZERO, ABOVE] = [[0, 114, 178], [247, 247, 247], [213, 94, 0]];

export function smallFields(host) {
  const kept = new Map();

  return (reported, bytes) => {
    let first = 0;
    const shown = reported.map((about) => {
      const { name, high, fresh, width, height } = about;
      if (!kept.has(name)) kept.set(name, tile(name));
      const { root, canvas, words } = kept.get(name);
      paint(canvas, bytes.subarray(first, first + width * height), width, height);
      first += width * height;
      root.classList.toggle("wb-fresh", fresh);
      words.textContent = `±${high}`;
      canvas.setAttribute("aria-label", `${name}, between −${high} and ${high}${fresh ? ", just written" : ""}`);
      return root;
    });
    host.replaceChildren(...shown);
  };
}

function tile(name) {
  const [root, canvas] = [element("figure", "wb-tile"), element("canvas", "")];
  canvas.setAttribute("role", "img");
  const caption = element("figcaption", "");
  const words = element("span", "wb-scale");
  caption.append(element("b", "", name), " ", words);
  root.append(canvas, caption);
  return { root, canvas, words };
}

function paint(canvas, cells, width, height) {
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  cells.forEach((level, k) => {
    const share = (level - 128) / 127;
    const end = share < 0 ? BELOW : ABOVE;
    for (let c = 0; c < 3; c += 1) data.data[4 * k + c] = ZERO[c] + Math.abs(share) * (end[c] - ZERO[c]);
    data.data[4 * k + 3] = 255;
  });
  context.putImageData(data, 0, 0);
}
