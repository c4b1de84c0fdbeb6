import { theme, onThemeChange } from "./theme.js";
import { surface, wipe } from "./surface.js";
import { link, copied } from "./link.js";
import { drawAxes, linearTicks, short, grouped } from "./axes.js";
import { coloursOf } from "./colours.js";
import { barRoom, drawBar, shadeTicks, titleOf } from "./shades.js";
import { drawBand } from "./band.js";
import { fieldChoices, frameControl, sectionControls } from "./fieldcontrols.js";
import { element } from "./page.js";

// The field picture: one byte per cell through a colour table, a colour bar in numbers, subdomain boundaries on top.

const MARGIN = { left: 34, top: 8, bottom: 42 };

function render({ model, el }) {
  const root = element("div", "wb-view wb-field");
  el.append(root);
  const heading = element("div", "wb-heading");
  const plot = element("div", "wb-plot");
  const note = element("div", "wb-note");
  const choices = fieldChoices(model);
  root.append(choices.row, heading, plot);
  let picture = null;
  let bytes = null;
  let pixels = null;
  let segments = new Float32Array(0);
  // Pixels that the numbers on the left and the colour bar on the right take.
  let [numbers, bar] = [0, 0];
  let [paints, frames] = [0, 0];
  const view = surface(plot, heightFor, draw);
  const { canvas } = view;
  const sections = sectionControls(model);
  const frame = frameControl(model);
  root.append(sections.row, frame.row, note);
  const wire = link(model, apply);

  function apply(content, buffer) {
    picture = content;
    frames += 1;
    // Made into an image only when it is painted: a page that is slow skips some.
    pixels = null;
    if (buffer) bytes = copied(buffer, Uint8Array);
    if (content.width) {
      const context = canvas.getContext("2d");
      context.font = `12px ${theme(canvas).type}`;
      const labels = content.band ? shadeTicks(content).map(([, text]) => text) : [`0${tick(content.y.high)}`];
      numbers = Math.max(...labels.map((text) => context.measureText(text).width));
      bar = content.band ? 16 : barRoom(context, content);
    }
    heading.textContent = content.title;
    note.textContent = content.note;
    canvas.setAttribute("aria-label", `${content.title}. ${content.width ? spoken(content) : ""} ${content.note}`);
    choices.show(content);
    sections.show(content);
    frame.show(content);
    view.invalidate();
    return false;
  }

  // As high as wide, but no higher than asked for.
  function heightFor(width) {
    if (!picture?.width) return 24;
    const square = Math.max(60, width - MARGIN.left - numbers - bar) + MARGIN.top + MARGIN.bottom;
    return Math.min(model.get("height"), square);
  }

  function draw(context, width, height) {
    const colours = theme(canvas);
    wipe(context, colours, width, height);
    if (width > 0 && picture?.width) paint(context, colours, width, height);
    wire.painted(picture?.seq ?? 0);
    paints += 1;
    const { width: columns = 0, height: rows = 0, segments: drawn = 0, title = "" } = picture ?? {};
    const { quantity = "", iteration = 0, scale = "", low = 0, high = 0, threshold = 0 } = picture ?? {};
    const told = { columns, rows, segments: drawn, paints, frames, title };
    Object.assign(canvas.dataset, { ...told, quantity, iteration, scale, low, high, threshold });
  }

  function paint(context, colours, width, height) {
    context.font = `12px ${colours.type}`;
    if (picture.band) {
      const box = { left: MARGIN.left + numbers, top: MARGIN.top, right: width - bar, bottom: height - MARGIN.bottom };
      drawBand(context, box, colours, picture, new Float32Array(bytes.buffer));
      return;
    }
    if (!pixels) unpack();
    const room = [width - MARGIN.left - numbers - bar, height - MARGIN.top - MARGIN.bottom];
    const size = Math.max(10, Math.min(...room));
    const left = MARGIN.left + numbers + Math.max(0, Math.floor((room[0] - size) / 2));
    const box = { left, top: MARGIN.top, right: left + size, bottom: MARGIN.top + size };
    if (picture.sparse) {
      context.fillStyle = "#ffffff";
      context.fillRect(box.left, box.top, size, size);
    }
    // Cells stay sharp when enlarged; none is lost when the picture has more of them than the page has pixels.
    context.imageSmoothingEnabled = picture.width > size * (window.devicePixelRatio || 1);
    context.imageSmoothingQuality = "high";
    context.drawImage(pixels, box.left, box.top, size, size);
    drawBoundaries(context, box, size);
    const { x, y, down } = picture;
    const toX = (value) => box.left + ((value - x.low) / (x.high - x.low)) * size;
    const toY = (value) => {
      const share = (value - y.low) / (y.high - y.low);
      return down ? box.top + share * size : box.bottom - share * size;
    };
    const most = Math.max(2, Math.floor(size / 55));
    drawAxes(context, box, colours, {
      xTicks: linearTicks(x.low, x.high, most).map((value) => [toX(value), tick(value)]),
      yTicks: linearTicks(y.low, y.high, most).map((value) => [toY(value), tick(value)]),
      xTitle: x.label,
      yTitle: y.label,
      yTitleAt: left - numbers - MARGIN.left + 12,
      grid: false,
    });
    drawBar(context, box, colours, picture);
  }

  function unpack() {
    pixels = image(bytes, picture);
    segments = new Float32Array(bytes.buffer.slice(bytes.length - 16 * picture.segments));
  }

  // A dark line under a light one can be seen on every colour.
  function drawBoundaries(context, box, size) {
    for (const [colour, breadth] of [["rgba(0, 0, 0, 0.55)", 2.2], ["#ffffff", 1]]) {
      context.strokeStyle = colour;
      context.lineWidth = breadth;
      context.beginPath();
      for (let k = 0; k < segments.length; k += 4) {
        context.moveTo(box.left + segments[k] * size, box.bottom - segments[k + 1] * size);
        context.lineTo(box.left + segments[k + 2] * size, box.bottom - segments[k + 3] * size);
      }
      context.stroke();
    }
  }

  const forget = onThemeChange(view.invalidate);
  return () => {
    forget();
    choices.close();
    sections.close();
    frame.close();
    wire.close();
    view.close();
  };
}

function image(bytes, { width, height, low, high, sparse, signed }) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  const table = coloursOf({ signed });
  for (let k = 0; k < width * height; k += 1) {
    const level = low === high ? 128 : bytes[k];
    for (let c = 0; c < 3; c += 1) data.data[4 * k + c] = table[3 * level + c];
    // In a sparsity pattern 0 is no entry at all.
    data.data[4 * k + 3] = sparse && bytes[k] === 0 ? 0 : 255;
  }
  context.putImageData(data, 0, 0);
  return canvas;
}

function tick(value) {
  return Math.abs(value) >= 1000 ? grouped(Math.round(value)) : String(Number(value.toFixed(6)));
}

function spoken(content) {
  const { low, high } = content;
  const title = titleOf(content);
  return low === high ? `${title}: ${short(low)}.` : `${title} from ${short(low)} to ${short(high)}.`;
}

export default { render };
