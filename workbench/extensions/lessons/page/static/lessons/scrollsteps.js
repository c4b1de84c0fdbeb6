import { element, press } from "../ui/page.js";
import { follow, setTraits } from "../ui/traits.js";

// Steps of a derivation in a column that scrolls: the one in the middle is the present step, which a picture follows.

function render({ model, el }) {
  const root = element("div", "wb-view wb-scrollsteps");
  const list = element("ol", "wb-steplist");
  list.tabIndex = 0;
  list.setAttribute("aria-label", model.get("about"));
  list.setAttribute("data-lm-suppress-shortcuts", "true");
  const rows = model.get("steps").map(([title, ...sentences]) => {
    const row = element("li", "");
    row.append(element("b", "", title), ...sentences.map((sentence) => element("p", "", sentence)));
    return row;
  });
  list.append(...rows);
  const count = element("span", "", "");
  const back = press("Back", "the step before", () => go(model.get("at") - 1));
  const next = press("Next", "the step that follows", () => go(model.get("at") + 1));
  const bar = element("div", "wb-stepbar");
  bar.append(back, next, count);
  root.append(list, bar);
  el.append(root);

  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  // The step to which a press scrolls: those on the way are none.
  let target = null;
  function go(step) {
    if (!rows[step]) return;
    target = step;
    const top = rows[step].offsetTop - (list.clientHeight - rows[step].offsetHeight) / 2;
    list.scrollTo({ top, behavior: still() ? "instant" : "smooth" });
    reach(step);
  }

  function reach(step) {
    if (step !== model.get("at")) setTraits(model, { at: step });
  }

  // The first and the last step can never be in the middle of the column.
  function seen() {
    const most = list.scrollHeight - list.clientHeight;
    if (list.scrollTop < 2) return 0;
    if (list.scrollTop > most - 2) return rows.length - 1;
    const middle = list.scrollTop + list.clientHeight / 2;
    const far = rows.map((row) => Math.abs(row.offsetTop + row.offsetHeight / 2 - middle));
    return far.indexOf(Math.min(...far));
  }

  function show() {
    const at = model.get("at");
    rows.forEach((row, k) => (k === at ? row.setAttribute("aria-current", "step") : row.removeAttribute("aria-current")));
    count.textContent = `${at + 1} of ${rows.length}`;
    [back.disabled, next.disabled] = [at === 0, at === rows.length - 1];
  }

  const free = () => (target = null);
  for (const name of ["wheel", "pointerdown", "touchmove"]) list.addEventListener(name, free, { passive: true });
  const scrolled = () => {
    if (target === null) reach(seen());
    else if (target === seen()) free();
  };
  list.addEventListener("scroll", scrolled, { passive: true });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(model.get("at") + by);
  });
  const forget = follow(model, ["at"], show);
  show();
  return () => {
    forget();
    root.remove();
  };
}

export default { render };
