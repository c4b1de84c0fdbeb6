import { button, element } from "../ui/page.js";
import { followTheme } from "../ui/themechoice.js";
import { tellKernel } from "../transport/kernel.js";

// Papers, each with its items as buttons: the printed points as a small picture, the title, and how far ours are from it.

const [WIDE, HIGH, EDGE, RING] = [150, 76, 10, 3];
const SVG = "http://www.w3.org/2000/svg";

function render({ model, el }) {
  followTheme();
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

  function itemButton(paper, { name, title, points, badge, tone }) {
    const made = button("wb-paperitem", "", () => tellKernel(model, { kind: "open", paper, item: name }), `open ${title}`);
    made.dataset.item = `${paper}.${name}`;
    made.append(thumbnail(points), element("span", "wb-itemtitle", title), element("span", `wb-badge ${tone ? `wb-${tone}` : ""}`, badge));
    return made;
  }

  model.on("change:papers", show);
  show();
  return () => {
    model.off("change:papers", show);
    root.remove();
  };
}

// Axes and a ring for each point.
function thumbnail(points) {
  const made = drawn("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "wb-thumb", "aria-hidden": "true" });
  made.append(drawn("path", { d: `M${EDGE / 2} ${EDGE / 2}V${HIGH - EDGE / 2}H${WIDE - EDGE / 2}` }));
  for (const [x, y] of points) {
    const [cx, cy] = [2 * EDGE + x * (WIDE - 3 * EDGE), HIGH - 2 * EDGE - y * (HIGH - 3 * EDGE)];
    made.append(drawn("circle", { cx, cy, r: RING }));
  }
  return made;
}

function drawn(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export default { render };
