import { nameSliders } from "./labels.js";
import { watchKernel } from "./lostkernel.js";

// What a widget can do only when it is on the page and knows its neighbours.

// Calls act() when an element is on the page, which for a widget is some frames after it was rendered. act returns what
// ends it; this returns what ends or prevents it.
export function whenOnPage(el, act) {
  let end = () => {};
  const look = () => {
    if (el.isConnected) end = act();
    else frame = requestAnimationFrame(look);
  };
  let frame = requestAnimationFrame(look);
  return () => {
    cancelAnimationFrame(frame);
    end();
  };
}

// Names the sliders next to a widget, and says so when its kernel is gone. Returns what ends that.
export function watchNeighbours(model, el) {
  return whenOnPage(el, () => {
    const ends = [nameSliders(el), watchKernel(model, el, () => model.get("advice"))];
    return () => ends.forEach((end) => end());
  });
}
