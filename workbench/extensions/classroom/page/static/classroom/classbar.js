import { tellKernel } from "../transport/kernel.js";
import { element, press, uniqueName, write } from "../ui/page.js";
import { follow } from "../ui/traits.js";

// The line above all views of a page of a class. The name is kept for this tab, so that a page that is loaded again has
// it; the server knows it as long as the page is open.

const OWN = "workbench-name";

function render({ model, el }) {
  const root = element("div", "wb-class");
  const words = element("span", "wb-note", model.get("words"));
  const said = element("b", "", "");
  said.setAttribute("role", "status");
  const back = press("Back to my problem", "the problem and the method from before", () => tellKernel(model, { kind: "return" }));
  root.append(said, back, words);
  el.append(root);

  if (model.get("asks")) {
    const name = element("input", "wb-text");
    [name.type, name.id, name.maxLength, name.value] = ["text", uniqueName("name"), 40, sessionStorage.getItem(OWN) ?? ""];
    name.setAttribute("data-lm-suppress-shortcuts", "true");
    const label = element("label", "wb-note", "Your name, if you like");
    label.htmlFor = name.id;
    const tell = () => tellKernel(model, { kind: "name", name: name.value });
    name.addEventListener("change", () => {
      sessionStorage.setItem(OWN, name.value);
      tell();
    });
    if (name.value) tell();
    const named = element("span", "wb-named");
    named.append(label, name);
    root.append(named);
  }

  function show() {
    write(said, model.get("said"));
    back.hidden = !model.get("can_return");
    root.hidden = !(model.get("words") || said.textContent);
  }
  const forget = follow(model, ["said", "can_return"], show);
  show();
  return () => {
    forget();
    root.remove();
  };
}

export default { render };
