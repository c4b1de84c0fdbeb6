import { element } from "./page.js";

// Paragraphs of text; a table, whose lines begin with |, as it is.

export function paragraphs(texts) {
  const made = element("div", "wb-prose");
  made.append(...texts.map((text) => element(text.startsWith("|") ? "pre" : "p", "", text)));
  return made;
}
