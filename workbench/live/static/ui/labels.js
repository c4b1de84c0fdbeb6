// The sliders of ipywidgets tell a screen reader neither what their value is of nor, over a list, the value itself, but
// its place in the list. Each gets the words next to it.
// And where a control has no tooltip, ipywidgets gives its label the tooltip "null", which is taken away.

const NAMELESS = ".widget-slider :is([role=slider], [contenteditable]):not([aria-label])";
const HANDLES = ".widget-slider [role=slider][aria-valuetext]";
const NULL_TIP = ".widget-label[title=null]";

// Names the sliders of the output that an element stands in, also those that come later. Returns what ends that.
export function nameSliders(element) {
  const output = element.closest(".jp-OutputArea-output") ?? element.parentElement ?? element;
  const name = () => {
    for (const label of output.querySelectorAll(NULL_TIP)) label.removeAttribute("title");
    for (const part of output.querySelectorAll(NAMELESS)) {
      const words = part.closest(".widget-slider").querySelector(".widget-label")?.textContent.trim();
      if (words) part.setAttribute("aria-label", words);
    }
    for (const handle of output.querySelectorAll(HANDLES)) {
      const value = handle.closest(".widget-slider").querySelector(".widget-readout")?.textContent;
      if (value && value !== handle.getAttribute("aria-valuetext")) handle.setAttribute("aria-valuetext", value);
    }
  };
  const observer = new MutationObserver(name);
  observer.observe(output, { childList: true, subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
  name();
  return () => observer.disconnect();
}
