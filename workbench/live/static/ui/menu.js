import { element } from "./page.js";

// The menu of a choice: grouped, searched by typing, by keyboard and pointer. What cannot run is listed with its reason.

const STILL = 5; // Pixels that a pointer may move in a press.

// options(): [{ value, label, code, group, formula, cost, source, reason }]. pick(value) is called with what was chosen, ask() when
// the menu opens; its `refresh` then shows the reasons.
export function choiceMenu(button, label, options, chosen, pick, ask) {
  const menu = element("div", "wb-menu");
  menu.popover = "auto";
  menu.setAttribute("data-lm-suppress-shortcuts", "true");
  const search = element("input", "wb-search");
  search.type = "search";
  search.placeholder = "Search by name, code or formula";
  search.setAttribute("aria-label", `search ${label}`);
  search.setAttribute("role", "combobox");
  search.setAttribute("aria-expanded", "true");
  const list = element("div", "wb-options");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", label);
  menu.append(search, list);
  let rows = [];
  let active = -1;
  let pressed = null;

  function fill() {
    const words = search.value.toLowerCase().split(/\s+/);
    const found = options().filter((option) => {
      const text = [option.label, option.code, option.group, option.formula].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    list.replaceChildren();
    rows = [];
    let group = "";
    for (const option of found) {
      if (option.group !== group) list.append(element("h4", "", (group = option.group)));
      rows.push(row(option));
      list.append(rows.at(-1));
    }
    if (!found.length) list.append(element("p", "wb-note", "No choice has these words."));
    activate(Math.max(0, rows.findIndex((at) => at.dataset.value === chosen())));
  }

  function row(option) {
    const made = element("div", "wb-option");
    made.setAttribute("role", "option");
    made.setAttribute("aria-selected", option.value === chosen());
    made.dataset.value = option.value;
    made.id = `${button.id}-${option.value}`;
    dress(made, option);
    return made;
  }

  function dress(made, { label, formula, cost, source, reason }) {
    const facts = [cost, source].filter(Boolean).join(" · ");
    const below = reason ? [element("span", "wb-note wb-reason", `${inWords(reason)}.`)] : [element("span", "wb-note wb-m", formula), element("span", "wb-note", facts)];
    made.replaceChildren(element("span", "wb-name", label), ...below.filter((at) => at.textContent));
    made.classList.toggle("wb-grey", Boolean(reason));
    if (reason?.off) made.setAttribute("aria-disabled", "true");
    else made.removeAttribute("aria-disabled");
    made.title = reason ? inWords(reason) : "";
  }

  menu.refresh = () => {
    const all = new Map(options().map((option) => [option.value, option]));
    for (const made of rows) dress(made, all.get(made.dataset.value));
  };

  function activate(place) {
    rows[active]?.classList.remove("wb-active");
    active = Math.min(Math.max(place, 0), rows.length - 1);
    const at = rows[active];
    at?.classList.add("wb-active");
    search.setAttribute("aria-activedescendant", at?.id ?? "");
    at?.scrollIntoView({ block: "nearest" });
  }

  function choose(at) {
    if (!at || at.hasAttribute("aria-disabled")) return;
    menu.hidePopover();
    button.focus();
    pick(at.dataset.value);
  }

  function open() {
    ask();
    search.value = "";
    menu.showPopover();
    fill();
    const at = button.getBoundingClientRect();
    const [width, height] = [menu.offsetWidth, menu.offsetHeight];
    const below = at.bottom + height < innerHeight || at.top < height;
    menu.style.left = `${Math.max(0, Math.min(at.left, document.documentElement.clientWidth - width))}px`;
    menu.style.top = `${below ? Math.max(0, Math.min(at.bottom, innerHeight - height)) : at.top - height - 8}px`;
    activate(active);
    search.focus();
  }

  // Reasons that arrive during a press move rows below a pointer that rests: what it met is chosen.
  list.addEventListener("pointerdown", ({ target, clientX, clientY }) => (pressed = { at: target.closest(".wb-option"), clientX, clientY }));
  list.addEventListener("click", ({ target, clientX, clientY }) => {
    const rested = pressed && Math.hypot(clientX - pressed.clientX, clientY - pressed.clientY) < STILL;
    choose(rested ? pressed.at : target.closest(".wb-option"));
    pressed = null;
  });
  search.addEventListener("input", fill);
  menu.addEventListener("keydown", (event) => {
    // Keys belong to the menu and not to the page.
    event.stopPropagation();
    if (event.key === "Escape") {
      menu.hidePopover();
      button.focus();
    }
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in moves) activate(active + moves[event.key]);
    else if (event.key === "Enter") choose(rows[active]);
    else if (event.key === "Tab") menu.hidePopover();
    else return;
    if (event.key !== "Tab") event.preventDefault();
  });
  menu.addEventListener("toggle", (event) => {
    button.setAttribute("aria-expanded", event.newState === "open");
    if (event.newState === "closed" && menu.contains(document.activeElement)) button.focus();
  });
  button.setAttribute("aria-haspopup", "listbox");
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", open);
  button.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "/") {
      event.preventDefault();
      open();
    }
  });
  return menu;
}

// What speaks against a choice: only another choice ends it, or other choices have to be made with it.
export function inWords({ words, off, with: others }) {
  if (off) return `Cannot run: ${words}`;
  return others ? `Only with ${others}: ${words}` : `Cannot run as it is: ${words}`;
}
