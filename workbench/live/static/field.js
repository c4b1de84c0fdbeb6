import { theme, onThemeChange } from "./theme.js";
import { surface, wipe } from "./surface.js";
import { link, copied } from "./link.js";
import { drawAxes, linearTicks, decadeTicks, powerOfTen, short, grouped, label } from "./axes.js";
import { cividis } from "./colours.js";

// The field picture: one byte per cell through a colour table, a colour bar in numbers, subdomain boundaries on top.

const MARGIN = { left: 34, top: 8, right: 86, bottom: 42 };
const BAR = 14;
const TABLE = cividis();

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "wb-view wb-field";
  el.append(root);
  const heading = document.createElement("div");
  heading.className = "wb-heading";
  const plot = document.createElement("div");
  plot.className = "wb-plot";
  const note = document.createElement("div");
  note.className = "wb-note";
  root.append(heading, plot);
  let picture = null;
  let pixels = null;
  let segments = new Float32Array(0);
  let numbers = 0;
  let paints = 0;
  const view = surface(plot, heightFor, draw);
  const { canvas } = view;
  const sections = sectionControls(model);
  root.append(sections.row, note);
  const wire = link(model, apply);

  function apply(content, buffer) {
    picture = content;
    const cells = content.width * content.height;
    if (buffer) {
      const bytes = copied(buffer, Uint8Array);
      pixels = image(bytes, content);
      segments = new Float32Array(bytes.buffer.slice(bytes.length - 16 * content.segments));
    }
    if (cells) {
      const context = canvas.getContext("2d");
      context.font = `12px ${theme(canvas).type}`;
      numbers = context.measureText(`0${tick(content.y.high)}`).width;
    }
    heading.textContent = content.title;
    note.textContent = content.note;
    canvas.setAttribute("aria-label", `${content.title}. ${cells ? spoken(content) : ""} ${content.note}`);
    sections.show(content);
    view.invalidate();
    return false;
  }

  // As high as wide, but no higher than asked for.
  function heightFor(width) {
    if (!picture?.width) return 24;
    const square = Math.max(60, width - MARGIN.left - numbers - MARGIN.right) + MARGIN.top + MARGIN.bottom;
    return Math.min(model.get("height"), square);
  }

  function draw(context, width, height) {
    const colours = theme(canvas);
    wipe(context, colours, width, height);
    if (width > 0 && picture?.width) paint(context, colours, width, height);
    wire.painted(picture?.seq ?? 0);
    paints += 1;
    const { width: columns = 0, height: rows = 0, segments: drawn = 0 } = picture ?? {};
    Object.assign(canvas.dataset, { columns, rows, segments: drawn, paints, title: picture?.title ?? "" });
  }

  function paint(context, colours, width, height) {
    const room = [width - MARGIN.left - numbers - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
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
      grid: false,
    });
    drawBar(context, box, colours);
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

  function drawBar(context, box, colours) {
    const { low, high, log, bar } = picture;
    const left = box.right + 16;
    const size = box.bottom - box.top;
    for (let k = 0; k < size; k += 1) {
      const level = low === high ? 128 : Math.round(255 * (1 - k / (size - 1)));
      context.fillStyle = `rgb(${TABLE.subarray(3 * level, 3 * level + 3).join()})`;
      context.fillRect(left, box.top + k, BAR, 1.5);
    }
    context.strokeStyle = colours.soft;
    context.lineWidth = 1;
    context.strokeRect(left, box.top, BAR, size);
    for (const [share, text] of barTicks(low, high, log)) {
      label(context, colours.soft, text, left + BAR + 5, box.bottom - share * size, "left", "middle");
    }
    context.save();
    context.translate(left + BAR + 50, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    label(context, colours.ink, bar, 0, 0, "center", "middle");
    context.restore();
  }

  const forget = onThemeChange(view.invalidate);
  return () => {
    forget();
    sections.close();
    wire.close();
    view.close();
  };
}

function image(bytes, { width, height, low, high, sparse }) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  for (let k = 0; k < width * height; k += 1) {
    const level = low === high ? 128 : bytes[k];
    for (let c = 0; c < 3; c += 1) data.data[4 * k + c] = TABLE[3 * level + c];
    // In a sparsity pattern 0 is no entry at all.
    data.data[4 * k + 3] = sparse && bytes[k] === 0 ? 0 : 255;
  }
  context.putImageData(data, 0, 0);
  return canvas;
}

function barTicks(low, high, log) {
  if (low === high) return [[0.5, short(low)]];
  if (!log) return linearTicks(low, high, 5).map((value) => [(value - low) / (high - low), short(value)]);
  const [from, to] = [Math.log10(low), Math.log10(high)];
  const ticks = decadeTicks(from, to, 7).map((exponent) => [(exponent - from) / (to - from), powerOfTen(exponent)]);
  return ticks.length > 1 ? ticks : [[0, short(low)], [1, short(high)]];
}

function tick(value) {
  return Math.abs(value) >= 1000 ? grouped(Math.round(value)) : String(Number(value.toFixed(6)));
}

function spoken({ bar, low, high }) {
  return low === high ? `${bar}: ${short(low)}.` : `${bar} from ${short(low)} to ${short(high)}.`;
}

// In 3D one plane of cells is shown: normal to which side, and where.
function sectionControls(model) {
  const row = document.createElement("div");
  row.className = "wb-section";
  const normal = document.createElement("select");
  normal.setAttribute("aria-label", "section normal to");
  for (const side of ["x", "y", "z"]) normal.append(new Option(`normal to ${side}`, side));
  const place = document.createElement("input");
  Object.assign(place, { type: "range", min: 0, step: 1 });
  place.setAttribute("aria-label", "section plane");
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  const where = document.createElement("span");
  row.append("section", normal, place, where);
  row.hidden = true;
  let cells = 0;

  const tell = () => {
    where.textContent = `${normal.value} = ${((Number(place.value) + 0.5) / Math.max(1, cells)).toFixed(3)}`;
    place.setAttribute("aria-valuetext", where.textContent);
  };
  const pull = () => {
    normal.value = model.get("normal");
    place.value = String(model.get("index"));
    tell();
  };
  const push = () => {
    model.set("normal", normal.value);
    model.set("index", Number(place.value));
    model.save_changes();
    tell();
  };
  normal.addEventListener("change", push);
  place.addEventListener("input", push);
  model.on("change:normal", pull);
  model.on("change:index", pull);
  return {
    row,
    show(content) {
      cells = content.cells;
      row.hidden = !cells;
      place.max = String(Math.max(0, cells - 1));
      pull();
    },
    close() {
      model.off("change:normal", pull);
      model.off("change:index", pull);
    },
  };
}

export default { render };
