import { watchAppearance } from "../ui/appearance.js";
import { arrows } from "../ui/arrows.js";
import { icon } from "../ui/icons.js";
import { whenOnPage } from "../ui/onpage.js";
import { button, element, uniqueName, write } from "../ui/page.js";
import { watchSliders } from "../ui/sliderwords.js";
import { setTraits } from "../ui/traits.js";
import { tellKernel } from "../transport/kernel.js";
import { watchTerms } from "./glossary.js";
import { helpPanel } from "./help.js";
import { KEYED, watchKeys } from "./keys.js";
import { startTour } from "./tour.js";

// The frame of the page. The views themselves are other widgets; which of them is in front is said by a
// style sheet, so that turning to a view needs no answer from the kernel.

function render({ model, el }) {
  watchSliders();
  const own = uniqueName("shell");
  el.classList.add("wb-shell");
  const sheet = document.createElement("style");
  const rail = element("nav", "wb-rail");
  rail.setAttribute("aria-label", "Views");
  const tabs = element("div", "wb-tabs");
  tabs.setAttribute("role", "tablist");
  tabs.setAttribute("aria-label", "Views");
  const foot = element("div", "wb-foot");
  rail.append(tabs, foot);
  const top = element("header", "wb-top");
  el.append(sheet, rail, top);
  let root = null;

  // The view that was in front of each part, so that the rail returns to it.
  const latest = {};
  const present = () => {
    const [key] = model.get("shown").split(".");
    return model.get("views").find((view) => view.key === key);
  };

  function go(shown, focus = false) {
    const place = shown.includes(".") ? shown : (latest[shown] ?? `${shown}.${model.get("views").find((view) => view.key === shown)?.parts[0]?.key}`);
    if (place.endsWith(".undefined")) return;
    setTraits(model, { shown: place });
    window.scrollTo({ top: 0 });
    if (focus) tabs.querySelector("[aria-selected=true]").focus();
  }

  function show() {
    const shown = model.get("shown");
    const view = present();
    if (!view) return;
    latest[view.key] = shown;
    sheet.textContent = `[data-shell="${own}"] .wb-pane:not(.wb-pane-${shown.replace(".", "-")}) { display: none !important; }`;
    if (root) root.dataset.view = view.key;
    for (const tab of tabs.children) {
      const chosen = tab.dataset.key === view.key;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    write(title, view.title);
    parts.hidden = view.parts.length < 2;
    parts.setAttribute("aria-label", `part of ${view.title}`);
    parts.replaceChildren(...view.parts.map((part) => partButton(view, part, shown)));
    // What was hidden has had no size.
    window.dispatchEvent(new Event("resize"));
  }

  function drawRail() {
    tabs.replaceChildren(...model.get("views").map((view, place) => railButton(view, place)));
    show();
  }

  function railButton(view, place) {
    const made = button("wb-tab", "", () => go(view.key), place < KEYED ? `${view.title} (key ${place + 1})` : view.title);
    made.dataset.key = view.key;
    made.setAttribute("role", "tab");
    made.append(icon(view.key), element("span", "", view.title));
    return made;
  }

  function partButton(view, part, shown) {
    const place = `${view.key}.${part.key}`;
    const made = button("", part.title, () => {
      go(place);
      parts.querySelector("[aria-checked=true]")?.focus();
    });
    made.setAttribute("role", "radio");
    made.setAttribute("aria-checked", shown === place);
    made.tabIndex = shown === place ? 0 : -1;
    return made;
  }

  arrows(tabs, (place) => go(model.get("views")[place].key, true), () => model.get("views").indexOf(present()), () => tabs.children.length);
  const title = element("h1", "", "");
  const chip = button("wb-chip", "", () => go("build"), "change the problem in Build");
  const [name, facts] = [element("b", ""), element("span", "wb-sub")];
  chip.append(name, facts);
  const parts = element("div", "wb-seg");
  parts.setAttribute("role", "radiogroup");
  arrows(parts, (place) => parts.children[place].click(), () => [...parts.children].findIndex((at) => at.getAttribute("aria-checked") === "true"), () => parts.children.length);
  const said = element("span", "wb-note wb-said");
  said.setAttribute("role", "status");
  const undo = quiet("Undo", "", () => tellKernel(model, { kind: "undo" }));
  const redo = quiet("Redo", "", () => tellKernel(model, { kind: "redo" }));
  const share = quiet("Share", "copy, save or open this problem and method", () => (panel?.matches(":popover-open") ? panel.hidePopover() : openShare()));
  share.setAttribute("aria-haspopup", "dialog");
  let panel = null;
  top.append(title, chip, parts, element("span", "wb-fill"), said, undo, redo, share);
  const help = helpPanel(model, () => startTour(root, go, (kind) => tellKernel(model, { kind })));
  const themeButton = quiet("", "the system's or JupyterLab's theme, light, or dark");
  const projector = quiet("Projector", "larger type and thicker lines");
  projector.prepend(icon("projector"));
  const openHelp = quiet("Help", "keys, pages and a tour (key ?)", help.open);
  openHelp.prepend(icon("help"));
  foot.append(themeButton, projector, openHelp);

  function showProblem() {
    const problem = model.get("problem");
    chip.hidden = !problem.name;
    write(name, problem.name ?? "");
    write(facts, problem.facts ? ` · ${problem.facts}` : "");
  }

  // A button that is off says why on itself; Redo is there only after an undo.
  function showUndoing() {
    const { undo: undone, redo: redone, why } = model.get("undoing");
    [undo.disabled, undo.title] = [!undone, undone ? `Undo: ${undone}` : why];
    [redo.hidden, redo.title] = [!redone, `take this undo back: ${redone}`];
  }

  function openShare() {
    panel.showPopover();
    const at = share.getBoundingClientRect();
    panel.style.top = `${at.bottom + 4}px`;
    panel.style.left = `${Math.max(8, at.right - panel.offsetWidth)}px`;
    panel.querySelector("button")?.focus();
  }

  let silence = 0;
  function say(words) {
    write(said, words);
    clearTimeout(silence);
    silence = setTimeout(() => write(said, ""), 6000);
  }

  function receive(content) {
    if (content.kind === "said") say(content.text);
    if (content.kind === "docs") help.show(content.title, content.html);
  }

  const listeners = [["change:shown", show], ["change:views", drawRail], ["change:problem", showProblem], ["change:undoing", showUndoing], ["msg:custom", receive]];
  for (const [event, act] of listeners) model.on(event, act);
  drawRail();
  showProblem();
  showUndoing();
  watchAppearance(themeButton, projector, (words, on) => {
    themeButton.replaceChildren(icon("theme"), element("span", "", words));
    projector.setAttribute("aria-pressed", on);
  });
  const leave = whenOnPage(el, () => {
    root = el.closest(".wb-workbench");
    root.dataset.shell = own;
    for (const place of [document.documentElement, document.body]) place.classList.toggle("wb-alone", Boolean(document.body.dataset.voila));
    show();
    const onHelp = (event) => {
      event.preventDefault();
      help.block(event.detail);
    };
    root.addEventListener("wb-help", onHelp);
    panel = root.querySelector(".wb-sharemenu");
    panel.popover = "auto";
    panel.setAttribute("role", "dialog");
    panel.setAttribute("aria-label", "Share");
    const onToggle = (event) => share.setAttribute("aria-expanded", event.newState === "open");
    panel.addEventListener("toggle", onToggle);
    // A link that cannot be opened is said in the menu, which may be there later than this.
    root.addEventListener("wb-refused", openShare);
    if (panel.querySelector(".wb-status.wb-bad:not(:empty)")) openShare();
    const ends = [
      () => root.removeEventListener("wb-help", onHelp),
      () => root.removeEventListener("wb-refused", openShare),
      () => panel.removeEventListener("toggle", onToggle),
      watchTerms(root, () => model.get("terms")),
      watchKeys(root, { views: () => model.get("views").map((view) => view.key), go, help: help.open }),
    ];
    return () => ends.forEach((end) => end());
  });
  return () => {
    leave();
    clearTimeout(silence);
    for (const [event, act] of listeners) model.off(event, act);
    help.close();
    el.replaceChildren();
  };
}

function quiet(words, tip, act) {
  const made = button("wb-quiet", "", act, tip);
  made.append(element("span", "", words));
  return made;
}

export default { render };
