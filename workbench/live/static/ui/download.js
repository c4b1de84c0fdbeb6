import { tellKernel } from "../transport/kernel.js";
import { saveAs } from "./saving.js";

// Files from the kernel, saved by the page that was used last: with one notebook in two windows, by one of them.

// One name for all widgets of the page, each of which has read this text for itself.
const HERE = (window.workbenchPage ??= `${Date.now()}-${Math.random()}`);

function initialize({ model }) {
  const key = `workbench-page-${model.get("kernel")}`;
  const claim = () => remember(key, HERE);
  const receive = (content, buffers) => {
    if (content.kind !== "file" || (remembered(key) ?? HERE) !== HERE) return;
    saveAs(content.name, buffers[0]);
    tellKernel(model, { kind: "saved", number: content.number });
  };
  const presses = ["pointerdown", "keydown"];
  for (const press of presses) document.addEventListener(press, claim, true);
  model.on("msg:custom", receive);
  return () => {
    for (const press of presses) document.removeEventListener(press, claim, true);
    model.off("msg:custom", receive);
  };
}

// Without localStorage a page knows no other.
function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch (refused) {
    console.debug("nothing can be kept here", refused);
  }
}

function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch (refused) {
    return null;
  }
}

export default { initialize };
