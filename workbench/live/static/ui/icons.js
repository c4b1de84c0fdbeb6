// Icons as inline SVG, drawn in the colour of the text next to them.

const PATHS = {
  build: '<rect x="2.5" y="2.5" width="15" height="15" rx="2"/><circle cx="7.5" cy="12" r="2.8"/><circle cx="13" cy="7" r="2"/>',
  solve: '<path d="M2.5 2.5v15h15"/><path d="M5 5c2 .5 2 4 4 5s2 0 3.5 2 1.5 3 4.5 3.2"/>',
  compare: '<path d="M3 5h14M3 10h9M3 15h5"/><path d="M14.5 8v9" stroke-dasharray="2 2"/>',
  flow: '<circle cx="7" cy="13.500" r="3.500"/><circle cx="13.500" cy="7" r="2.500"/><path d="M7 7V2.500M5 4.500l2-2 2 2M13.500 17v-4.500"/>',
  inspect: '<circle cx="8.5" cy="8.5" r="5.5"/><path d="m13 13 4.5 4.5M6 9.5l1.8-2 1.7 1.3L11 7"/>',
  learn: '<path d="M3 5h5M3 10h8M3 15h6"/><path d="m14 7 3 3-3 3"/>',
  papers: '<path d="M5 2.500h7l3.500 3.500v11.500H5z"/><path d="M12 2.500V6h3.500M7.500 14l2.500-3 1.500 1.500L13 10"/>',
  runs: '<path d="M6.5 5H17M6.5 10H17M6.5 15H17"/><circle cx="3.3" cy="5" r=".8"/><circle cx="3.3" cy="10" r=".8"/><circle cx="3.3" cy="15" r=".8"/>',
  class: '<rect x="2.5" y="3" width="15" height="8.500" rx="1"/><circle cx="5.500" cy="15" r="1.500"/><circle cx="10" cy="15" r="1.500"/><circle cx="14.500" cy="15" r="1.500"/>',
  play: '<path d="M6 4v12l10-6z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M6 4h3v12H6zM11 4h3v12h-3z" fill="currentColor" stroke="none"/>',
  replay: '<path d="M4.700 12.500a5.700 5.700 0 1 0 .3-5.200"/><path d="M4.500 3v4.500H9"/>',
  stop: '<rect x="5" y="5" width="10" height="10" rx="1.5" fill="currentColor" stroke="none"/>',
  good: '<circle cx="10" cy="10" r="7.5"/><path d="m6.5 10.2 2.4 2.4 4.6-5"/>',
  bad: '<path d="M6.8 2.5h6.4l4.3 4.3v6.4l-4.3 4.3H6.8l-4.3-4.3V6.8z"/><path d="M10 6v4.8M10 13.5v.6"/>',
  warn: '<path d="M10 3 18 16.5H2z"/><path d="M10 8v4M10 14v.6"/>',
  busy: '<circle cx="10" cy="10" r="7.5" stroke-dasharray="3 2.3"/>',
  down: '<path d="m5.5 8 4.5 4.5L14.5 8"/>',
  theme: '<circle cx="10" cy="10" r="7"/><path d="M10 3v14a7 7 0 0 0 0-14z" fill="currentColor" stroke="none"/>',
  projector: '<rect x="2.5" y="4" width="15" height="10" rx="1"/><path d="M7 17h6M10 14v3"/>',
  help: '<circle cx="10" cy="10" r="7.5"/><path d="M7.8 7.8c.2-2.700 4.600-2.600 4.500.1 0 1.700-2.200 1.800-2.200 3.600M10.100 14v.6"/>',
};

// Of a view that has none of these.
const GENERAL = '<rect x="3" y="3" width="14" height="14" rx="2"/><path d="M3 7.5h14M7.5 7.5V17"/>';

export function icon(name, kind = "") {
  const template = document.createElement("template");
  template.innerHTML = `<svg class="wb-ic ${kind}" viewBox="0 0 20 20" aria-hidden="true">${Object.hasOwn(PATHS, name) ? PATHS[name] : GENERAL}</svg>`;
  return template.content.firstChild;
}
