import { ANSWER_MS, tellKernel } from "../transport/kernel.js";
import { watchNeighbours } from "./onpage.js";
import { write } from "./page.js";
import { turns } from "../transport/throttle.js";
import { follow } from "./traits.js";

// The status line, read out by screen readers when it changes.

function render({ model, el }) {
  const line = document.createElement("div");
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  el.append(line);
  const isTurn = turns(ANSWER_MS);
  const show = () => {
    line.className = `wb-status wb-${model.get("tone")}`;
    line.dataset.state = model.get("state");
    write(line, model.get("text"));
    if (isTurn()) tellKernel(model, { kind: "read" });
  };
  const forget = follow(model, ["text", "tone", "state"], show);
  show();
  const leave = watchNeighbours(model, el);
  return () => {
    leave();
    forget();
  };
}

export default { render };
