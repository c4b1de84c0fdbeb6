// A slider of ipywidgets tells a screen reader the place in its list. While one has the focus, what is read out is the
// value that is shown next to it, and its name is its label.

export function watchSliders() {
  // Each widget brings a copy of this module, and one is enough for a page.
  if (window.workbenchSliders) return;
  window.workbenchSliders = true;
  document.addEventListener("focusin", ({ target }) => {
    const slider = target.matches?.(".noUi-handle") ? target.closest(".widget-slider") : null;
    if (!slider) return;
    const say = () => describe(slider, target);
    const watch = new MutationObserver(say);
    watch.observe(slider, { subtree: true, childList: true, characterData: true, attributeFilter: ["aria-valuetext"] });
    target.addEventListener("focusout", () => watch.disconnect(), { once: true });
    say();
  });
}

function describe(slider, handle) {
  const shown = slider.querySelector(".widget-readout")?.textContent.trim();
  const label = slider.querySelector(".widget-label")?.textContent.trim();
  if (shown && handle.getAttribute("aria-valuetext") !== shown) handle.setAttribute("aria-valuetext", shown);
  if (label && handle.getAttribute("aria-label") !== label) handle.setAttribute("aria-label", label);
}
