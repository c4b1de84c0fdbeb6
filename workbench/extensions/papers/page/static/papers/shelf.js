import { whenOnPage } from "../ui/onpage.js";
import { button, element } from "../ui/page.js";
import { tellKernel } from "../transport/kernel.js";

// Papers, each with its items as buttons: the printed points as a small picture, the title, and how far ours are from it.

const [WIDE, HIGH, EDGE, RING] = [150, 76, 10, 3];

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

  function itemButton(paper, { name, title, points, lines, badge, tone }) {
    const open = () => {
      tellKernel(model, { kind: "open", paper, item: name });
      window.scrollTo({ top: 0 });
    };
    const made = button("wb-paperitem", "", open, `open ${title}`);
    made.dataset.item = `${paper}.${name}`;
    made.append(thumbnail(points, lines), element("span", "wb-itemtitle", title), element("span", `wb-badge ${tone ? `wb-${tone}` : ""}`, badge));
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

// Axes, a ring for each printed point, and the lines of ours.
function thumbnail(points, lines) {
  const at = ([x, y]) => [2 * EDGE + x * (WIDE - 3 * EDGE), HIGH - 2 * EDGE - y * (HIGH - 3 * EDGE)];
  const ours = lines.map((places) => `<polyline points="${places.map(at).join(" ")}"/>`);
  const rings = points.map(at).map(([x, y]) => `<circle cx="${x}" cy="${y}" r="${RING}"/>`);
  const axes = `<path d="M${EDGE / 2} ${EDGE / 2}V${HIGH - EDGE / 2}H${WIDE - EDGE / 2}"/>`;
  const template = document.createElement("template");
  template.innerHTML = `<svg class="wb-thumb" viewBox="0 0 ${WIDE} ${HIGH}" aria-hidden="true">${[axes, ...ours, ...rings].join("")}</svg>`;
  return template.content.firstChild;
}

export default { render };
