// Which theme the page has: chosen here, JupyterLab's, or the system's.

const THEME_KEY = "workbench-theme";

// auto, light or dark. A browser that keeps nothing begins with auto each time.
export function chosenTheme() {
  try {
    return localStorage.getItem(THEME_KEY) ?? "auto";
  } catch (refused) {
    return document.documentElement.dataset.wbChoice ?? "auto";
  }
}

export function chooseTheme(choice) {
  document.documentElement.dataset.wbChoice = choice;
  try {
    localStorage.setItem(THEME_KEY, choice);
  } catch (refused) {
    console.debug("the theme is not kept", refused);
  }
  settleTheme();
}

// Voila has the style sheets of JupyterLab and no theme that a user could choose.
function inJupyter() {
  return document.body.dataset.jpThemeLight !== undefined && !document.body.dataset.voila;
}

const prefersDark = () => matchMedia("(prefers-color-scheme: dark)");

function settleTheme() {
  const root = document.documentElement.dataset;
  const [choice, jupyter] = [chosenTheme(), inJupyter()];
  const own = choice === "light" || choice === "dark";
  root.wbBy = own ? "choice" : jupyter ? "jupyter" : "system";
  const dark = jupyter ? document.body.dataset.jpThemeLight === "false" : prefersDark().matches;
  root.wbTheme = own ? choice : dark ? "dark" : "light";
}

// Once for all widgets of a page, each of which brings this text and calls this before it renders.
export function followTheme() {
  if (window.workbenchTheme) return;
  window.workbenchTheme = true;
  settleTheme();
  prefersDark().addEventListener("change", settleTheme);
  new MutationObserver(settleTheme).observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
}
