import { element } from "../ui/page.js";

// A paper line as code or as mathematics. Names stay elements of their own, so that they can be found and marked.

export const GREEK = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", omega: "ω", rho: "ρ", eta: "η", zeta: "ζ", theta: "θ", sigma: "σ" };
const SYMBOLS = { "*": "\u202f", "@": "\u202f", "-": "\u202f−\u202f", "+": "\u202f+\u202f", "/": "\u202f/\u202f", "<=": " ≤ ", ">=": " ≥ ", "<": " < ", ">": " > ", "=": " ← ", ",": ", " };
const WORDS = { if: " if ", else: ", else ", sqrt: "√", conj: "conj", abs: "abs" };
const PIECE = /[A-Za-z_]\w*|\d+\.?\d*(?:[eE][+-]?\d+)?|<=|>=|\S|\s+/g;

export function codeLine(text) {
  return pieces(text).map((piece) => (isName(piece) ? name(piece, piece) : piece));
}

// A line as code in the colours of its parts: applications of A and M, words of the language, numbers.
export function colouredLine(text) {
  return pieces(text).map((piece) => {
    const part = piece === "A" || piece === "M" ? "wb-applied" : piece in WORDS ? "wb-keyword" : /^\d/.test(piece) ? "wb-digits" : "";
    return part ? element("span", part, piece) : piece;
  });
}

// M(r) is M⁻¹ r, A(p) is A p, dots(P, S) the products of columns (Pⱼ, Sⱼ); a product is written by putting factors side by side.
export function mathLine(text) {
  const found = pieces(text).filter((piece) => piece.trim());
  const out = [];
  for (let k = 0; k < found.length; k += 1) {
    const piece = found[k];
    if ((piece === "A" || piece === "M") && found[k + 1] === "(" && found[k + 3] === ")") {
      out.push(piece === "M" ? "M⁻¹\u202f" : "A\u202f", name(found[k + 2], GREEK[found[k + 2]]));
      k += 3;
    } else if (piece === "dots") {
      out.push("(", name(found[k + 2], GREEK[found[k + 2]]), "ⱼ, ", name(found[k + 4], GREEK[found[k + 4]]), "ⱼ)");
      k += 5;
    } else if (isName(piece)) out.push(name(piece, GREEK[piece]));
    else if ((piece === "-" || piece === "+") && (k === 0 || "=(*/+-".includes(found[k - 1]))) out.push(piece === "-" ? "−" : "");
    else out.push(WORDS[piece] ?? SYMBOLS[piece] ?? piece);
  }
  return out;
}

// x2 has a subscript, alpha a letter; the name as in the file is what a pointer sees.
function name(code, letter) {
  const made = element("span", "wb-name", letter ?? code);
  made.dataset.name = code;
  if (letter && letter !== code) made.title = code;
  // A dot product of a vector with itself, and the gamma of the iteration before.
  const [, squared] = /^([a-z])\1$/.exec(code) ?? [];
  if (squared) made.textContent = `‖${squared}‖²`;
  if (code === "previous") made.replaceChildren("γ", element("sub", "", "k−1"));
  if (squared || code === "previous") return made;
  // The sums of the two sides of a schedule have a word there.
  const [, stem, below] = /^([a-z]+?)(?:_(?=part$|there$)|(?=\d+$))(\w+)$/i.exec(code) ?? [];
  if (letter === undefined && below) made.replaceChildren(GREEK[stem] ?? stem, element("sub", "", below));
  return made;
}

function pieces(text) {
  return text.match(PIECE) ?? [];
}

function isName(piece) {
  return /^[A-Za-z_]/.test(piece) && !(piece in WORDS);
}
