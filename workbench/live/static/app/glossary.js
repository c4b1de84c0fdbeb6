import { element } from "../ui/page.js";

// The sentence of the glossary for a term that the pointer rests on, or that the label of the focused control contains.

const REST_MS = 450;
const NEVER = ".wb-term, input, textarea, select, option, svg, canvas, code, .cm-editor, dialog";

// terms(): meanings by term, in lower case. Returns what ends it.
export function watchTerms(root, terms) {
  const bubble = element("div", "wb-term");
  bubble.popover = "manual";
  bubble.setAttribute("role", "tooltip");
  root.append(bubble);
  let timer = 0;
  const pattern = new RegExp(
    `(?<![\\p{L}-])(${Object.keys(terms()).sort((one, other) => other.length - one.length).map(escaped).join("|")})s?(?![\\p{L}-])`,
    "giu",
  );
  const hide = () => {
    clearTimeout(timer);
    if (bubble.matches(":popover-open")) bubble.hidePopover();
  };
  const later = (look) => {
    hide();
    timer = setTimeout(look, REST_MS);
  };

  const move = (event) => {
    if (event.buttons || event.target.closest?.(NEVER)) return hide();
    const { clientX: x, clientY: y } = event;
    later(() => {
      const found = under(x, y, pattern);
      if (found) show(found.term, found.box);
    });
  };

  // A control has the term in its label; the sentence of the first one is shown below it until something is typed.
  const focus = (event) => {
    // The sentence would cover what a menu offers.
    if (event.target.closest?.(".wb-menu")) return;
    // A field says its own meaning there.
    if (event.target.closest?.(".wb-brief:has(> .wb-explained:not(:empty))")) return;
    const label = event.target.labels?.[0] ?? event.target.closest?.("[data-field]")?.querySelector("label");
    // Labels of controls without a name are there, and empty.
    if (!label?.firstChild || !event.target.matches(":focus-visible")) return;
    const found = [...label.firstChild.textContent.matchAll(pattern)][0];
    // What is wrong with a value stands where the sentence would be.
    const isRight = () => event.target.getAttribute("aria-invalid") !== "true";
    if (found) later(() => isRight() && show(found[1], event.target.getBoundingClientRect()));
  };

  function show(term, box) {
    const meaning = terms()[term.toLowerCase()];
    if (!meaning) return;
    bubble.replaceChildren(element("b", "", term.toLowerCase()), element("span", "", ` ${meaning}`));
    bubble.style.left = "0";
    bubble.showPopover();
    const left = Math.min(box.left, document.documentElement.clientWidth - bubble.offsetWidth - 8);
    const below = box.bottom + bubble.offsetHeight + 8 < innerHeight;
    bubble.style.left = `${Math.max(0, left)}px`;
    bubble.style.top = `${below ? box.bottom + 6 : Math.max(0, box.top - bubble.offsetHeight - 6)}px`;
  }

  const listeners = [["pointermove", move], ["pointerleave", hide], ["pointerdown", hide], ["focusin", focus], ["focusout", hide], ["keydown", hide], ["wheel", hide]];
  for (const [name, act] of listeners) root.addEventListener(name, act, { passive: true });
  return () => {
    hide();
    for (const [name, act] of listeners) root.removeEventListener(name, act);
    bubble.remove();
  };
}

// The term at a point of the page, with its box; undefined where there is none.
function under(x, y, pattern) {
  const at = document.caretPositionFromPoint?.(x, y) ?? document.caretRangeFromPoint?.(x, y);
  const [node, place] = [at?.offsetNode ?? at?.startContainer, at?.offset ?? at?.startOffset];
  if (node?.nodeType !== Node.TEXT_NODE) return undefined;
  for (const found of node.textContent.matchAll(pattern)) {
    if (found.index > place || place > found.index + found[0].length) continue;
    const range = document.createRange();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    const box = range.getBoundingClientRect();
    // The nearest text may be far from the pointer.
    if (x >= box.left - 2 && x <= box.right + 2 && y >= box.top - 2 && y <= box.bottom + 2) return { term: found[1], box };
  }
  return undefined;
}

function escaped(term) {
  return term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
