import { theme, onThemeChange } from "./theme.js";
import { followTheme } from "./themechoice.js";

// Elements of the page around a canvas, and what keeps a drawing in step with the page.

// Workers have this text too.
if (self.document) followTheme();

export function element(kind, name, text = "") {
  const made = document.createElement(kind);
  made.className = name;
  made.textContent = text;
  return made;
}

// The same words once more would be laid out once more.
export function write(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

// kind: its classes.
export function button(kind, words, act, tip = "") {
  const made = element("button", kind, words);
  [made.type, made.title] = ["button", tip];
  made.addEventListener("click", act);
  return made;
}

// A button of a plot. Keys on it are not the notebook's.
export function press(words, tip, act) {
  const made = button("wb-press", words, act, tip);
  made.setAttribute("data-lm-suppress-shortcuts", "true");
  return made;
}

// The height of a picture in pixels: the model's, or where that is 0 one that suits the window.
export function tallOf(model) {
  return model.get("height") || Math.round(Math.max(300, Math.min(680, 0.55 * innerHeight)));
}

// A name that no other element of the page has. Each widget brings a copy of this module, so the page counts.
export function uniqueName(kind) {
  window.workbenchNames = (window.workbenchNames ?? 0) + 1;
  return `wb-${kind}-${window.workbenchNames}`;
}

export function focusable() {
  const canvas = element("canvas", "wb-canvas");
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  // Keys move what is in the canvas and not the notebook's selection.
  canvas.setAttribute("data-lm-suppress-shortcuts", "true");
  return canvas;
}

// Notifies a drawing of size, theme and visibility. height() in pixels; recoloured(colours) is called when they change.
export function keepInStep(canvas, engine, height, recoloured) {
  const recolour = () => {
    const colours = theme(canvas);
    engine.post({ kind: "colours", colours });
    recoloured?.(colours);
  };
  // Only when it is measured is the canvas sure to be on the page and to have its colours.
  const measure = () => {
    recolour();
    const scale = window.devicePixelRatio || 1;
    engine.post({ kind: "size", width: canvas.clientWidth, height: height(), scale });
  };
  const see = () => engine.post({ kind: "visibility", hidden: document.hidden });
  const observer = new ResizeObserver(measure);
  observer.observe(canvas);
  document.addEventListener("visibilitychange", see);
  const forget = onThemeChange(recolour);
  see();
  return {
    close() {
      document.removeEventListener("visibilitychange", see);
      observer.disconnect();
      forget();
    },
  };
}
