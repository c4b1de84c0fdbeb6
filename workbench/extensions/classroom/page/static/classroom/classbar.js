import { tellKernel } from "../transport/kernel.js";
import { element, press, uniqueName, write } from "../ui/page.js";
import { follow } from "../ui/traits.js";

// The line above all views of a page of a class. The browser keeps the name, and a random key by which the teacher's list
// knows its student on every page; answers of lessons are kept next to them.

const OWN = "workbench-student";
const ANSWERS = "workbench-answer:";
const DAY_MS = 86_400_000;
const DAYS = 30;

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The student of this browser: a new one where none is kept, or where nothing can be.
function student() {
  try {
    const kept = JSON.parse(localStorage.getItem(OWN));
    if (/^[0-9a-f]{32}$/.test(kept?.key) && Date.now() - kept.at < DAYS * DAY_MS) return { key: kept.key, name: String(kept.name ?? "") };
  } catch (error) {
    console.debug("no student is kept", error);
  }
  return { key: newKey(), name: "" };
}

function keep({ key, name }) {
  try {
    localStorage.setItem(OWN, JSON.stringify({ key, name, at: Date.now() }));
  } catch (error) {
    console.debug("the student is not kept", error);
  }
}

// Someone else at this machine: neither name nor answers stay, which would count as theirs.
function leave() {
  for (const name of Object.keys(localStorage)) if (name === OWN || name.startsWith(ANSWERS)) localStorage.removeItem(name);
  location.reload();
}

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
    const own = student();
    keep(own);
    [name.type, name.id, name.maxLength, name.value] = ["text", uniqueName("name"), 40, own.name];
    name.setAttribute("data-lm-suppress-shortcuts", "true");
    const label = element("label", "wb-note", "Your name or number, if you like");
    label.htmlFor = name.id;
    const other = press("Someone else", "forget name and answers of this browser, and begin as another student", leave);
    other.hidden = !own.name;
    const tell = () => tellKernel(model, { kind: "name", name: own.name, student: own.key });
    name.addEventListener("change", () => {
      own.name = name.value;
      other.hidden = !own.name;
      keep(own);
      tell();
    });
    tell();
    const named = element("span", "wb-named");
    named.append(label, name, other);
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
