// Colours and type of the page, so that a canvas fits a light and a dark theme alike.

const FALLBACKS = {
  ink: ["--jp-content-font-color1", "#212121"],
  soft: ["--jp-content-font-color2", "#616161"],
  rule: ["--jp-border-color2", "#e0e0e0"],
  paper: ["--jp-layout-color0", "#ffffff"],
  type: ["--jp-ui-font-family", "system-ui, sans-serif"],
};

export function theme(element) {
  const style = getComputedStyle(element);
  const read = ([name, fallback]) => style.getPropertyValue(name).trim() || fallback;
  return Object.fromEntries(Object.entries(FALLBACKS).map(([key, pair]) => [key, read(pair)]));
}

// Black is the one curve colour that a dark page swallows.
export function onPage(colour, colours) {
  return colour === "#000000" ? colours.ink : colour;
}

export function onThemeChange(react) {
  const observer = new MutationObserver(react);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"] });
  return () => observer.disconnect();
}
