// Colours and type of the page, so that a canvas fits a light and a dark theme alike; and which theme that is.

const TOKENS = { ink: "--wb-ink", soft: "--wb-ink-2", rule: "--wb-hair", paper: "--wb-ground", type: "--wb-font" };
const STORED = "workbench-theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");
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

// auto, light or dark. A browser that keeps nothing begins with auto each time.
export function chosenTheme() {
  try {
    return localStorage.getItem(STORED) ?? "auto";
  } catch (refused) {
    return document.documentElement.dataset.wbChoice ?? "auto";
  }
}

export function chooseTheme(choice) {
  document.documentElement.dataset.wbChoice = choice;
  try {
    localStorage.setItem(STORED, choice);
  } catch (refused) {
    console.debug("the theme is not kept", refused);
  }
  settleTheme();
}

// Voila has the style sheets of JupyterLab and no theme that a user could choose.
function inJupyter() {
  return document.body.dataset.jpThemeLight !== undefined && !document.body.dataset.voila;
}

function settleTheme() {
  const root = document.documentElement.dataset;
  const [choice, jupyter] = [chosenTheme(), inJupyter()];
  const own = choice === "light" || choice === "dark";
  root.wbBy = own ? "choice" : jupyter ? "jupyter" : "system";
  const dark = jupyter ? document.body.dataset.jpThemeLight === "false" : DARK.matches;
  root.wbTheme = own ? choice : dark ? "dark" : "light";
}

// Once for all widgets of a page, each of which brings this text.
if (!window.workbenchTheme) {
  window.workbenchTheme = true;
  settleTheme();
  DARK.addEventListener("change", settleTheme);
  new MutationObserver(settleTheme).observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
}
