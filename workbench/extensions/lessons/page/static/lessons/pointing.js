import { tellKernel } from "../transport/kernel.js";
import { element } from "../ui/page.js";

// Symbols of the text that the nearest picture marks while the pointer or the focus is on one.

const SYMBOL = "wb-symbol";
const PICTURE = "wb-pointing";
const COPY_MS = 100;

const keyOf = (symbol) => [...symbol.classList].find((name) => name.startsWith(`${SYMBOL}-`))?.slice(SYMBOL.length + 1);

// Text may be rendered after the picture, so that it is made ready again before the focus moves.
function makeReady() {
  for (const symbol of document.getElementsByClassName(SYMBOL)) {
    if (symbol.tabIndex === 0) continue;
    symbol.tabIndex = 0;
    symbol.title = "marked in the picture";
  }
}

const boxOf = (picture) => picture.closest(".wb");

function away(picture, symbol) {
  const [{ top, bottom }, at] = [boxOf(picture).getBoundingClientRect(), symbol.getBoundingClientRect()];
  return Math.max(top - at.bottom, at.top - bottom, 0);
}

// Of all pictures that know the symbol, and are shown, the nearest.
function nearest(symbol) {
  const key = keyOf(symbol);
  const known = [...document.getElementsByClassName(PICTURE)].filter((each) => each.dataset.keys.split(" ").includes(key));
  const shown = known.filter((each) => boxOf(each).getClientRects().length);
  return shown.sort((one, other) => away(one, symbol) - away(other, symbol))[0];
}

// A copy of the marked pictures next to the text, while the pictures themselves are out of sight. plot: the number of the
// one in which the symbol is marked; all of them by default.
function peekAt(picture, symbol, plot) {
  const shown = [...boxOf(picture).querySelectorAll("canvas.wb-canvas")].filter((each) => each.clientHeight);
  const canvases = shown[plot] ? [shown[plot]] : shown;
  const seen = canvases.map((each) => each.getBoundingClientRect());
  if (!seen.length || seen.some(({ top, bottom }) => top < innerHeight - (bottom - top) / 2 && bottom > (bottom - top) / 2)) return null;
  const root = element("div", "wb-peek");
  // A wide picture stays wide enough to be read.
  root.style.setProperty("--wb-wide", `${Math.max(...seen.map(({ width }) => width))}px`);
  const copies = seen.map(({ width, height }, k) => {
    const copy = element("canvas", "");
    Object.assign(copy, { width: canvases[k].width, height: canvases[k].height });
    copy.style.aspectRatio = `${width} / ${height}`;
    return copy;
  });
  root.append(...copies);
  root.classList.toggle("wb-above", symbol.getBoundingClientRect().top > innerHeight / 2);
  document.body.append(root);
  // The kernel's picture comes a moment later, and may be dragged meanwhile.
  const copyAll = () => {
    copies.forEach((copy, k) => {
      const { width, height } = canvases[k];
      if (!width || !height) return;
      Object.assign(copy, { width, height });
      copy.getContext("2d").drawImage(canvases[k], 0, 0);
    });
  };
  const timer = setInterval(copyAll, COPY_MS);
  copyAll();
  return () => {
    clearInterval(timer);
    root.remove();
  };
}

function render({ model, el }) {
  const root = element("div", PICTURE);
  root.dataset.keys = model.get("symbols").join(" ");
  el.classList.add("wb-nothing");
  el.append(root);
  let marked = "";
  let hide = null;
  const mark = (key, symbol = null) => {
    if (key !== marked) tellKernel(model, { kind: "points", key });
    marked = key;
    hide?.();
    hide = symbol && peekAt(root, symbol, model.get("plots")[key]);
  };
  const enter = ({ target }) => {
    makeReady();
    const symbol = target.closest?.(`.${SYMBOL}`);
    if (symbol && nearest(symbol) === root) mark(keyOf(symbol), symbol);
  };
  const leave = ({ target }) => {
    if (marked && target.closest?.(`.${SYMBOL}`)) mark("");
  };
  const events = { pointerover: enter, focusin: enter, pointerout: leave, focusout: leave, keydown: makeReady };
  for (const [name, act] of Object.entries(events)) document.addEventListener(name, act, true);
  makeReady();
  return () => {
    for (const [name, act] of Object.entries(events)) document.removeEventListener(name, act, true);
    hide?.();
    root.remove();
  };
}

export default { render };
