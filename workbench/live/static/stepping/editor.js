import { element } from "../ui/page.js";
import { follow, setTraits } from "../ui/traits.js";
import { colouredLine } from "./typeset.js";

// Two texts of paper lines to edit, before the loop and in every iteration, with numbered lines and the wrong one marked.

const PAUSE = 250;
const PARTS = [
  ["start", "start", "Before the loop"],
  ["iterate", "iteration", "In every iteration"],
];

function render({ model, el }) {
  const root = element("div", "wb-view wb-editor");
  // Keys belong to the text and not to the notebook.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  const parts = PARTS.map(([trait, part, title]) => textPart(root, model, trait, part, title));
  return () => {
    for (const part of parts) part.close();
    root.remove();
  };
}

function textPart(root, model, trait, part, title) {
  const heading = element("div", "wb-part", title);
  const [box, gutter, ink, stripe, token, text] = ["div", "div", "div", "div", "span", "textarea"].map((kind) => element(kind, ""));
  [box.className, gutter.className, ink.className] = ["wb-writing", "wb-gutter", "wb-ink"];
  [stripe.className, token.className] = ["wb-stripe", "wb-token"];
  stripe.append(token);
  for (const behind of [gutter, ink]) behind.setAttribute("aria-hidden", "true");
  Object.assign(text, { spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off" });
  text.setAttribute("aria-label", `paper lines: ${title.toLowerCase()}`);
  box.append(gutter, stripe, ink, text);
  root.append(heading, box);
  let timer = 0;

  const show = () => {
    const lines = text.value.split("\n");
    const blank = lines.findIndex((line) => line.trim());
    const wrong = model.get("wrong");
    const at = wrong.part === part && wrong.number ? wrong.number - 1 + Math.max(0, blank) : -1;
    text.rows = Math.max(3, lines.length);
    // What is read lies behind the letters that are typed, which are transparent.
    ink.replaceChildren(...lines.flatMap((line) => [...colouredLine(line), "\n"]));
    // Lines are counted from the first that holds anything, as sentences about them do.
    gutter.replaceChildren(...lines.map((_, k) => element("div", k === at ? "wb-wrong" : "", k < blank ? "" : String(k - Math.max(0, blank) + 1))));
    stripe.hidden = at < 0;
    stripe.style.top = `calc(${at}*20px + 4px)`;
    if (at >= 0) showToken(lines, at, wrong.column);
    text.setAttribute("aria-invalid", String(wrong.part === part));
    box.dataset.wrong = at + 1;
  };
  // The word or sign at a column, which is counted without the indentation that all lines share.
  const showToken = (lines, at, column) => {
    const indented = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
    const from = column - 1 + indented;
    const [word] = /^(\w+|\S)/.exec(lines[at].slice(from)) ?? [""];
    token.hidden = column < 1 || !word;
    token.style.setProperty("--from", from);
    token.style.setProperty("--letters", word.length);
    box.dataset.token = token.hidden ? "" : word;
  };
  const save = () => {
    clearTimeout(timer);
    if (model.get(trait) === text.value) return;
    setTraits(model, { [trait]: text.value });
  };
  const take = () => {
    if (text.value !== model.get(trait)) text.value = model.get(trait);
    show();
  };
  text.addEventListener("input", () => {
    show();
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE);
  });
  text.addEventListener("blur", save);
  text.addEventListener("scroll", () => {
    ink.scrollLeft = text.scrollLeft;
    token.style.setProperty("--scrolled", `${text.scrollLeft}px`);
  });
  const forgotten = [follow(model, [trait], take), follow(model, ["wrong"], show)];
  take();
  return {
    close() {
      clearTimeout(timer);
      for (const forget of forgotten) forget();
    },
  };
}

export default { render };
