// On a served page the kernel writes the query of an address; where the page is served, only the browser knows.

export function wholeLink(text) {
  return text.startsWith("?") ? `${location.origin}${location.pathname}${text}` : text;
}
