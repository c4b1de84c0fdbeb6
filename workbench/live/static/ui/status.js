import { ANSWER_MS, tellKernel } from "../transport/kernel.js";
import { toClipboard } from "./clipboard.js";
import { watchNeighbours } from "./onpage.js";
import { press, write } from "./page.js";
import { turns } from "../transport/throttle.js";
import { follow } from "./traits.js";
import { watchSliders } from "./sliderwords.js";
import { wholeLink } from "./wholelink.js";

// The status line, read out by screen readers when it changes. A sentence to quote has a button that copies it.

// Milliseconds for which a button says that it has copied.
const SAID_MS = 2000;

function render({ model, el }) {
  watchSliders();
  const line = document.createElement("div");
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  const copy = press("Copy", "copy this sentence", async () => {
    // The older way copies what is selected.
    getSelection().selectAllChildren(line);
    copy.textContent = (await toClipboard(wholeLink(model.get("quote")))) ? "Copied" : "Selected";
    setTimeout(() => (copy.textContent = "Copy"), SAID_MS);
  });
  copy.classList.add("wb-quote");
  el.append(line, copy);
  const isTurn = turns(ANSWER_MS);
  const show = () => {
    line.className = `wb-status wb-${model.get("tone")}`;
    line.dataset.state = model.get("state");
    write(line, model.get("text"));
    copy.style.display = model.get("quote") ? "" : "none";
    if (isTurn()) tellKernel(model, { kind: "read" });
  };
  const forget = follow(model, ["text", "tone", "state", "quote"], show);
  show();
  const leave = watchNeighbours(model, el);
  return () => {
    leave();
    forget();
  };
}

export default { render };
