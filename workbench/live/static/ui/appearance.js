import { chooseTheme, chosenTheme } from "./themechoice.js";

// The two buttons of a page for its looks: from theme to theme, and larger for a projector, as long as its tab is open.

const MODE_KEY = "workbench-mode";
const THEMES = [["auto", "Theme"], ["light", "Light"], ["dark", "Dark"]];

// shown(theme, projector) is called with the words of the first button and whether the second is on.
export function watchAppearance(theme, projector, shown) {
  const root = document.documentElement.dataset;
  const place = () => Math.max(0, THEMES.findIndex(([choice]) => choice === chosenTheme()));
  const show = () => shown(THEMES[place()][1], root.wbMode === "projector");
  theme.addEventListener("click", () => {
    chooseTheme(THEMES[(place() + 1) % THEMES.length][0]);
    show();
  });
  projector.addEventListener("click", () => {
    root.wbMode = root.wbMode === "projector" ? "" : "projector";
    try {
      sessionStorage.setItem(MODE_KEY, root.wbMode);
    } catch (refused) {
      console.debug("the mode is not kept", refused);
    }
    show();
  });
  try {
    root.wbMode ??= sessionStorage.getItem(MODE_KEY) ?? "";
  } catch (refused) {
    console.debug("no mode is kept", refused);
  }
  show();
}
