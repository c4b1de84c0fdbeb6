import { button, element } from "../ui/page.js";
import { paragraphs } from "../ui/prose.js";
import { tellKernel } from "../transport/kernel.js";
import { KEYED } from "./keys.js";

// The help panel: keys, pages of documentation, the text of a block, and the start of the tour.
// startTour: called by its button. Returns functions that show a part: a page (show), or a block.

const START = "Help";
const KEYS = [
  ["R", "run"],
  ["S", "stop"],
  ["/", "search the choices of this view"],
  ["?", "this panel"],
  ["Esc", "close a menu, this panel, or the tour"],
  ["arrow keys", "in a plot: move; in a menu or the rail: the next one"],
  ["+ and −, 0", "in a plot: zoom, reset"],
];

export function helpPanel(model, startTour) {
  const panel = element("dialog", "wb-helppanel");
  panel.setAttribute("data-lm-suppress-shortcuts", "true");
  const head = element("div", "wb-head");
  const title = element("h2", "", "");
  const back = button("wb-link", "All help", () => open());
  const close = button("wb-link", "Close", () => panel.close());
  head.append(title, element("span", "wb-fill"), back, close);
  const body = element("div", "wb-helpbody");
  panel.append(head, body);
  document.body.append(panel);
  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close();
  });

  // Show elements under a heading; "All help" leads back from all but the first page.
  function display(heading, ...content) {
    title.textContent = heading;
    back.hidden = heading === START;
    body.replaceChildren(...content);
    if (!panel.open) panel.showModal();
    body.scrollTop = 0;
  }

  function open() {
    const keys = element("dl", "wb-keys");
    const views = model.get("views").slice(0, KEYED).map((view) => view.title);
    for (const [key, meaning] of [[`1 to ${views.length}`, views.join(", ")], ...KEYS]) {
      const name = element("dt", "");
      name.append(element("kbd", "wb-key", key));
      keys.append(name, element("dd", "", meaning));
    }
    const pages = element("div", "wb-pageslist");
    for (const [name, label] of model.get("pages")) pages.append(button("wb-link", label, () => request(name)));
    const tour = button("wb-btn", "Start the tour (two minutes)", () => {
      panel.close();
      startTour();
    });
    const hint = element("p", "wb-note", "A term explains itself under the pointer, and when Tab reaches its field.");
    display(START, tour, element("h3", "", "Keys"), keys, element("h3", "", "Pages"), pages, hint);
  }

  // Ask the kernel for a page of the documentation, which it sends to `show`.
  const request = (page) => tellKernel(model, { kind: "docs", page });

  function page(heading, html) {
    const content = element("div", "wb-docs");
    content.innerHTML = html;
    display(heading, content);
  }

  function block(facts) {
    const list = element("dl", "wb-keys");
    const rows = [["Name in code", facts.code], ["Formula", facts.formula], ["Cost", facts.cost], ["Source", facts.source]];
    for (const [name, value] of rows.filter(([, value]) => value)) list.append(element("dt", "", name), element("dd", "", value));
    const about = model.get("pages").find(([name]) => name === facts.docs);
    const more = about ? [button("wb-link", `Page “${about[1]}”`, () => request(about[0]))] : [];
    display(facts.label, list, paragraphs(facts.about), ...more);
  }

  return {
    open,
    show: page,
    block,
    close: () => panel.remove(),
  };
}
