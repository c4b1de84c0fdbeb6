// Keys of the page: 1 to 9 views, R run, S stop, / search a choice, ? help. Not while something is typed.

const TYPING = "input:not([type=checkbox], [type=range], [type=radio]), select, textarea, [contenteditable=true], [role=slider]";

// Views that have a key.
export const KEYED = 9;

// What has keys W A S D of its own.
const OWN = ".wb-timeline canvas";

// acts: { views(), go(key), help() }. Returns what ends it.
export function watchKeys(root, acts) {
  const press = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target instanceof Element ? event.target : document.body;
    // Of several pages in one notebook the keys belong to the one that has the focus; a page alone has them always.
    const mine = root.contains(at) || (document.body.dataset.voila && !at.closest("dialog, [popover]"));
    if (!mine || at.closest(TYPING) || (at.matches(OWN) && "wasd".includes(event.key.toLowerCase())) || root.closest("[inert]") || root.classList.contains("wb-lost")) return;
    const act = found(event.key);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  function found(key) {
    const view = acts.views()[Number(key) - 1];
    if (view) return () => acts.go(view);
    if (key === "?") return acts.help;
    if (key === "/") return first(".wb-pick[data-value]", ".wb-search") && (() => openChoice());
    const button = { r: '[data-act="run"]', s: '[data-act="stop"]' }[key.toLowerCase()];
    const control = button && first(button);
    return control && (() => control.click());
  }

  function openChoice() {
    const control = first(".wb-pick[data-value]", ".wb-search");
    if (control.matches(".wb-pick")) control.click();
    else control.focus();
  }

  // In the view in front.
  function first(...selectors) {
    return [...root.querySelectorAll(selectors.join(", "))].find((control) => control.checkVisibility() && !control.disabled);
  }

  document.addEventListener("keydown", press, true);
  return () => document.removeEventListener("keydown", press, true);
}
