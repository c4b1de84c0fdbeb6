import { element, press } from "./page.js";

// The words that say how to use a canvas, at first folded, and the button that shows them.
export function helpButton(canvas, words, what) {
  const help = element("p", "wb-help", words);
  help.hidden = true;
  canvas.setAttribute("aria-description", words);
  const ask = press("?", `how to use this ${what}`, () => {
    help.hidden = !help.hidden;
    ask.setAttribute("aria-expanded", String(!help.hidden));
  });
  ask.setAttribute("aria-label", ask.title);
  return [help, ask];
}
