import { ANSWER_MS, tellKernel } from "./kernel.js";
import { nameSliders } from "./names.js";
import { write } from "./page.js";
import { REPORT_MS, turns, untilTurn } from "./throttle.js";

// One line that says what goes on, read out by screen readers when it changes.

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
  // Mere progress is shown when the views beside it tell of theirs, in one frame with them.
  let timer = 0;
  const news = () => {
    clearTimeout(timer);
    const progress = model.get("tone") === "busy" && line.dataset.state === model.get("state");
    if (progress) timer = setTimeout(show, untilTurn(REPORT_MS));
    else show();
  };
  const names = ["change:text", "change:tone", "change:state"];
  for (const name of names) model.on(name, news);
  show();
  // Only when it has been put on the page does the line know what it stands beside.
  let forget = () => {};
  const frame = requestAnimationFrame(() => {
    forget = nameSliders(el);
  });
  return () => {
    cancelAnimationFrame(frame);
    forget();
    clearTimeout(timer);
    for (const name of names) model.off(name, news);
  };
}

export default { render };
