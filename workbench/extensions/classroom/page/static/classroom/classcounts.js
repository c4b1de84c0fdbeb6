import { tellKernel } from "../transport/kernel.js";
import { element, press, write } from "../ui/page.js";
import { follow } from "../ui/traits.js";

// How many students have each exercise, next to the code that leads to the lesson. A dialog shows both large, and no name
// of a student, for all to see.

function render({ model, el }) {
  const small = panel(model, "wb-counts");
  small.root.append(press("Show on the projector", "code and counts large, without names", () => large(model)));
  el.append(small.root);
  tellKernel(model, { kind: "page", page: `${location.origin}${location.pathname}` });
  return () => {
    small.forget();
    small.root.remove();
  };
}

// The code, and the lines next to it; forget() ends what keeps them true.
function panel(model, name) {
  const root = element("div", name);
  const code = element("div", "wb-code");
  const words = element("div", "wb-counted");
  const [title, list, address, note] = [element("b", ""), element("ul", ""), element("code", "wb-address"), element("div", "wb-note")];
  list.setAttribute("aria-live", "polite");
  words.append(title, list, address, note);
  root.append(code, words);
  let drawn = "";

  function show() {
    if (drawn !== model.get("svg")) {
      drawn = model.get("svg");
      code.innerHTML = drawn;
      code.firstChild?.setAttribute("role", "img");
      code.firstChild?.setAttribute("aria-label", `QR code of ${model.get("address")}`);
    }
    write(title, model.get("title"));
    write(address, model.get("address").replace(/^https?:\/\//, ""));
    write(note, model.get("note"));
    const lines = model.get("lines");
    while (list.children.length > lines.length) list.lastChild.remove();
    lines.forEach(({ text, share }, place) => {
      const line = list.children[place] ?? list.appendChild(element("li", ""));
      write(line, text);
      line.style.setProperty("--wb-share", `${100 * share}%`);
    });
    root.hidden = !model.get("title");
  }
  const forget = follow(model, ["title", "lines", "svg", "address", "note"], show);
  show();
  return { root, forget };
}

function large(model) {
  const dialog = element("dialog", "wb-beamer");
  dialog.setAttribute("aria-label", "the class and its exercises");
  const shown = panel(model, "wb-counts wb-large");
  const acts = element("div", "wb-bar");
  acts.append(press("Close", "Esc", () => dialog.close()));
  dialog.append(shown.root, acts);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    shown.forget();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}

export default { render };
