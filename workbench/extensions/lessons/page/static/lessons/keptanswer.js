import { tellKernel } from "../transport/kernel.js";
import { follow } from "../ui/traits.js";

// The answer of an exercise in the storage of the browser, which a page that is loaded again sends to its new kernel.

const KEY = "workbench-answer:";
const DAY_MS = 86_400_000;
const KEPT = ["answer", "checked", "tries", "solved"];

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
    const { answer, checked, tries, solved } = found;
    tellKernel(model, { kind: "kept", answer, checked, tries, solved });
  }
  return follow(model, KEPT, () => {
    const state = Object.fromEntries(KEPT.map((trait) => [trait, model.get(trait)]));
    try {
      if (state.answer || state.tries) localStorage.setItem(KEY + name, JSON.stringify({ ...state, at: Date.now() }));
      else localStorage.removeItem(KEY + name);
    } catch (error) {
      console.debug("the answer is not kept", error);
    }
  });
}

export default { render };
