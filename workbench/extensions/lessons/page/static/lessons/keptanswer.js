import { tellKernel } from "../transport/kernel.js";
import { follow } from "../ui/traits.js";

// The answer of an exercise in the storage of the browser, which a page that is loaded again sends to its new kernel.

const KEY = "workbench-answer:";
const DAY_MS = 86_400_000;

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(KEY + name));
  } catch {
    return null;
  }
}

function render({ model }) {
  const name = model.get("name");
  const found = kept(name);
  if (found && Date.now() - found.at < model.get("days") * DAY_MS) {
    tellKernel(model, { kind: "kept", answer: found.answer, checked: found.checked });
  }
  return follow(model, ["answer", "checked"], () => {
    const [answer, checked] = [model.get("answer"), model.get("checked")];
    try {
      if (answer) localStorage.setItem(KEY + name, JSON.stringify({ answer, checked, at: Date.now() }));
      else localStorage.removeItem(KEY + name);
    } catch (error) {
      console.debug("the answer is not kept", error);
    }
  });
}

export default { render };
