// A short piece of a curve in its colour, dash and mark, as it stands before the name of a run.

const MARKS = {
  o: '<circle cx="20" cy="7" r="3.5"/>',
  s: '<path d="M16.5 3.5h7v7h-7z"/>',
  "^": '<path d="M20 3l4 7.5h-8z"/>',
  D: '<path d="M20 2.5l4.5 4.5-4.5 4.5-4.5-4.5z"/>',
  v: '<path d="M20 11l4-7.5h-8z"/>',
  x: '<path d="M16.5 3.5l7 7m0-7l-7 7"/>',
  "+": '<path d="M20 2.5v9m-4.5-4.5h9"/>',
  "*": '<path d="M20 2.5v9m-4-6.8l8 4.6m0-4.6l-8 4.6"/>',
};

export function styleSample({ colour, dash, marker }) {
  const holder = document.createElement("span");
  // The parser of the page gives an svg its namespace.
  holder.innerHTML = `<svg viewBox="0 0 40 14" class="wb-sample" aria-hidden="true"><path d="M1 7h38"/>${MARKS[marker] ?? ""}</svg>`;
  const made = holder.firstElementChild;
  made.style.color = colour;
  made.firstElementChild.setAttribute("stroke-dasharray", dash.join(" "));
  return made;
}
