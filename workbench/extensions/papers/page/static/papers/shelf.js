import { whenOnPage } from "../ui/onpage.js";
import { button, element } from "../ui/page.js";
import { tellKernel } from "../transport/kernel.js";

// Papers, each with its items as buttons: a small picture, the title, how far ours are from print, and since when.

const [WIDE, HIGH, EDGE, RING, DOT] = [150, 76, 10, 3, 1.6];

function render({ model, el }) {
  const root = element("div", "wb-shelf");
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);

  function show() {
    const held = root.contains(document.activeElement) ? document.activeElement.dataset.item : "";
    root.replaceChildren(...model.get("papers").map(section));
    if (held) root.querySelector(`[data-item="${held}"]`)?.focus();
  }

  function section({ name, title, who, items }) {
    const made = element("section", "");
    made.append(element("h2", "", title), element("p", "wb-note", who));
    const list = element("div", "wb-shelved");
    list.append(...items.map((item) => itemButton(name, item)));
    made.append(list);
    return made;
  }

  function itemButton(paper, item) {
    const { name, title, badge, tone, made: when } = item;
    const open = () => {
      tellKernel(model, { kind: "open", paper, item: name });
      window.scrollTo({ top: 0 });
    };
    const made = button("wb-paperitem", "", open, `open ${title}`);
    made.dataset.item = `${paper}.${name}`;
    const words = element("span", "wb-badges");
    words.append(element("span", `wb-badge ${tone ? `wb-${tone}` : ""}`, badge), element("span", "wb-made", when));
    made.append(thumbnail(item), element("span", "wb-itemtitle", title), words);
    return made;
  }

  model.on("change:papers", show);
  show();
  // From an item back to where it was opened.
  const leave = whenOnPage(el, () => {
    root.querySelector(`[data-item="${model.get("last")}"]`)?.focus();
    return () => {};
  });
  return () => {
    leave();
    model.off("change:papers", show);
    root.remove();
  };
}

// Axes, a ring for each printed point and a diamond for each that is read off a figure, and ours as lines, bars or dots.
function thumbnail({ points, lines, as }) {
  const at = ([x, y]) => [2 * EDGE + x * (WIDE - 3 * EDGE), HIGH - 2 * EDGE - y * (HIGH - 3 * EDGE)];
  const bar = ([x, y], shift) => `<path class="wb-thumbbar" d="M${x + shift} ${HIGH - EDGE}V${y}"/>`;
  const dot = ([x, y]) => `<circle class="wb-thumbdot" cx="${x}" cy="${y}" r="${DOT}"/>`;
  const ring = ([x, y]) => `<circle cx="${x}" cy="${y}" r="${RING}"/>`;
  const diamond = ([x, y]) => `<path d="M${x - RING} ${y}l${RING} ${-RING} ${RING} ${RING} ${-RING} ${RING}z"/>`;
  const ours = lines.map(({ places, modelled }, k) => {
    if (as === "bars") return places.map((place) => bar(at(place), 3 * (k - (lines.length - 1) / 2))).join("");
    if (as === "points" || places.length === 1) return places.map((place) => dot(at(place))).join("");
    return `<polyline class="${modelled ? "wb-thumbdash" : ""}" points="${places.map(at).join(" ")}"/>`;
  });
  const theirs = points.flatMap(({ places, off }) => places.map((place) => (off ? diamond : ring)(at(place))));
  const axes = `<path class="wb-thumbaxes" d="M${EDGE / 2} ${EDGE / 2}V${HIGH - EDGE / 2}H${WIDE - EDGE / 2}"/>`;
  const template = document.createElement("template");
  template.innerHTML = `<svg class="wb-thumb" viewBox="0 0 ${WIDE} ${HIGH}" aria-hidden="true">${[axes, ...ours, ...theirs].join("")}</svg>`;
  return template.content.firstChild;
}

export default { render };
