import { element } from "./page.js";

// Paragraphs of text, in which u_x has a subscript; a table, whose lines begin with |, as it is.

const BELOW = /(?<=(?:^|[^A-Za-z_])[A-Za-zα-ω]|‖)_(∞|[a-z]{1,3}|\([a-z][-+]\d\))(?![\w])/;

export function paragraphs(texts) {
  const made = element("div", "wb-prose");
  for (const text of texts) {
    const part = element(text.startsWith("|") ? "pre" : "p", "");
    // Every second piece is what was matched in brackets.
    part.append(...text.split(BELOW).map((piece, place) => (place % 2 ? element("sub", "", piece) : piece)));
    made.append(part);
  }
  return made;
}
