import { render } from "../transport/modules.js";
import { chooseTheme, chosenTheme } from "../ui/themechoice.js";
import { element } from "../ui/page.js";

// Plots on a page without a kernel: what stands in for the model of a widget gives its script the messages that a kernel
// would send. `live/inspect/plain.py` writes them onto the page as JSON.

const PLOTS = "script.wb-offline-plot";
const SCRIPTS = "script.wb-offline-scripts";
// How the generators of documentation call their dark palettes, on the root or on the body.
const DARK = /^(dark|slate)$/;

// said: {traits, messages: [[content, bytes as base64], ...]}.
function modelOf({ traits, messages }, _script) {
  const values = { ...traits, _script };
  const listeners = new Set(); // of [event, act]
  const notify = (event, ...content) => [...listeners].filter(([name]) => name === event).forEach(([, act]) => act(...content));
  return {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      notify(`change:${name}`);
    },
    save_changes() {},
    on(events, act) {
      for (const event of events.split(" ")) listeners.add([event, act]);
    },
    off(events, act) {
      for (const one of listeners) if (one[1] === act && events.split(" ").includes(one[0])) listeners.delete(one);
    },
    // Whoever asks is sent all there is; acknowledgements and clicks have no one to hear them.
    send({ kind }) {
      if (kind === "ready") setTimeout(() => messages.forEach(([content, data]) => notify("msg:custom", content, [bytesOf(data)])), 0);
    },
  };
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// A page with a palette of its own, such as that of a documentation, decides between light and dark.
function followPage() {
  const [root, body] = [document.documentElement.dataset, document.body.dataset];
  const settle = () => {
    const named = body.mdColorScheme ?? root.theme;
    if (named) chooseTheme(DARK.test(named) ? "dark" : "light");
  };
  settle();
  for (const place of [document.body, document.documentElement]) {
    new MutationObserver(settle).observe(place, { attributes: true, attributeFilter: ["data-md-color-scheme", "data-theme"] });
  }
}

function start() {
  if (!window.workbenchPlain) followPage();
  window.workbenchPlain = true;
  const scripts = Object.assign({}, ...[...document.querySelectorAll(SCRIPTS)].map(({ text }) => JSON.parse(text)));
  for (const written of document.querySelectorAll(PLOTS)) {
    const said = JSON.parse(written.text);
    const el = element("div", "wb-offline");
    written.replaceWith(el);
    render({ model: modelOf(said, scripts[said.script]), el });
  }
  for (const menu of document.querySelectorAll("select.wb-offline-theme:not([data-alive])")) {
    Object.assign(menu, { value: chosenTheme() });
    menu.dataset.alive = "true";
    menu.addEventListener("change", () => chooseTheme(menu.value));
  }
}

start();
