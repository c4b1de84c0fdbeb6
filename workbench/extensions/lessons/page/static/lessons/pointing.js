import { tellKernel } from "../transport/kernel.js";
import { element } from "../ui/page.js";

// Symbols of the text that the nearest picture marks while the pointer or the focus is on one.

const SYMBOL = "wb-symbol";
const PICTURE = "wb-pointing";

const keyOf = (symbol) => [...symbol.classList].find((name) => name.startsWith(`${SYMBOL}-`))?.slice(SYMBOL.length + 1);

// Text may be rendered after the picture, so that it is made ready again before the focus moves.
function makeReady() {
  for (const symbol of document.getElementsByClassName(SYMBOL)) {
    if (symbol.tabIndex === 0) continue;
    symbol.tabIndex = 0;
    symbol.title = "marked in the picture";
  }
}

function away(picture, symbol) {
  const [{ top, bottom }, at] = [picture.parentElement.getBoundingClientRect(), symbol.getBoundingClientRect()];
  return Math.max(top - at.bottom, at.top - bottom, 0);
}

// Of all pictures that know the symbol, and are shown, the nearest.
function nearest(symbol) {
  const key = keyOf(symbol);
  const known = [...document.getElementsByClassName(PICTURE)].filter((each) => each.dataset.keys.split(" ").includes(key));
  const shown = known.filter((each) => each.parentElement.getClientRects().length);
  return shown.sort((one, other) => away(one, symbol) - away(other, symbol))[0];
}

function render({ model, el }) {
  const root = element("div", PICTURE);
  root.dataset.keys = model.get("symbols").join(" ");
  el.classList.add("wb-nothing");
  el.append(root);
  let marked = "";
  const mark = (key) => {
    if (key !== marked) tellKernel(model, { kind: "points", key });
    marked = key;
  };
  const enter = ({ target }) => {
    makeReady();
    const symbol = target.closest?.(`.${SYMBOL}`);
    if (symbol && nearest(symbol) === root) mark(keyOf(symbol));
  };
  const leave = ({ target }) => {
    if (marked && target.closest?.(`.${SYMBOL}`)) mark("");
  };
  const events = { pointerover: enter, focusin: enter, pointerout: leave, focusout: leave, keydown: makeReady };
  for (const [name, act] of Object.entries(events)) document.addEventListener(name, act, true);
  makeReady();
  return () => {
    for (const [name, act] of Object.entries(events)) document.removeEventListener(name, act, true);
    root.remove();
  };
}

export default { render };
