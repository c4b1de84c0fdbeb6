// Colours and type of the page, so that a canvas fits a light and a dark theme alike.

const TOKENS = { ink: "--wb-ink", soft: "--wb-ink-2", rule: "--wb-hair", paper: "--wb-ground", type: "--wb-font" };
const SEEN = ["data-jp-theme-light", "data-wb-theme", "data-wb-mode", "data-wb-by"];

export function theme(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(Object.entries(TOKENS).map(([key, name]) => [key, style.getPropertyValue(name).trim()]));
}

// Black is the one curve colour that a dark page swallows.
export function onPage(colour, colours) {
  return colour === "#000000" ? colours.ink : colour;
}

export function onThemeChange(react) {
  const observer = new MutationObserver(react);
  for (const at of [document.body, document.documentElement]) observer.observe(at, { attributes: true, attributeFilter: SEEN });
  return () => observer.disconnect();
}
