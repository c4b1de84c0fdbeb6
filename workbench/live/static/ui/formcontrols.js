import { arrows } from "./arrows.js";
import { inWords } from "./menu.js";
import { button, element, uniqueName } from "./page.js";

// The controls of a form, one maker for each kind of field. say(value, content) reports what was typed or chosen; ask()
// is called where its choices are about to be seen, and show then gets what speaks against them.
// Each returns the element that is put on the page and how to show a value with the options there are; grouped: it holds
// several elements, so that its title is no label of one.

export function controlOf(declared, current, say, ask) {
  return (MAKERS[declared.kind] ?? typed)(declared, current, say, ask);
}

const MAKERS = { bool: tick, choice, formula, segments, sides, press: trigger, file, words };

function typed(declared, current, say) {
  const control = textBox(declared);
  const commit = () => say(control.value);
  control.addEventListener("change", commit);
  // JupyterLab keeps Enter from the browser, so that no change would be reported.
  control.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    if (String(current()) !== control.value) commit();
  });
  // What is being typed is not taken away by an answer to what was typed before.
  const show = (value) => {
    if (document.activeElement !== control || control.dataset.sent !== String(value)) control.value = value;
    control.dataset.sent = value;
  };
  return { control, show, short: declared.kind !== "str" };
}

// Reported with every key, so that what is wrong is said while it is typed; never written into while it has the focus.
function formula(declared, current, say) {
  const control = textBox(declared);
  control.addEventListener("input", () => say(control.value));
  control.addEventListener("keydown", (event) => event.key === "Enter" && event.stopPropagation());
  return { control, show: (value) => document.activeElement === control || (control.value = value) };
}

function textBox(declared) {
  const control = element("input", "wb-input");
  control.type = "text";
  control.placeholder = declared.placeholder ?? "";
  if (declared.kind === "int" || declared.kind === "float") control.inputMode = "decimal";
  control.spellcheck = false;
  control.autocomplete = "off";
  if (declared.suggestions) {
    const list = element("datalist", "");
    list.id = uniqueName("known");
    list.append(...declared.suggestions.map((value) => new Option(value)));
    control.setAttribute("list", list.id);
    control.addEventListener("focus", () => control.after(list), { once: true });
  }
  return control;
}

function tick(declared, current, say) {
  const control = element("input", "wb-input");
  control.type = "checkbox";
  control.addEventListener("change", () => say(control.checked));
  return { control, show: (value) => (control.checked = value), ticked: true };
}

function choice(declared, current, say, ask) {
  const control = element("select", "wb-input");
  const names = new Map(declared.choices);
  control.addEventListener("change", () => {
    say(control.value);
    // What is chosen here is done, and not kept.
    if (declared.act) control.selectedIndex = 0;
  });
  for (const seen of ["pointerenter", "focus"]) control.addEventListener(seen, ask);
  const show = (value, options, reasons = {}) => {
    const offered = (options ?? [...names.keys()]).map((each) => (Array.isArray(each) ? each : [each, names.get(each) ?? each]));
    const named = new Map(offered);
    fill(control, offered);
    control.value = value;
    // In place: the list may be open.
    for (const option of control.options) {
      const reason = reasons[option.value];
      const name = named.get(option.value) ?? option.value;
      option.text = reason ? `${name} · ${shortened(inWords(reason))}` : name;
      option.title = reason ? inWords(reason) : "";
      option.disabled = Boolean(reason?.off);
      option.classList.toggle("wb-grey", Boolean(reason));
    }
  };
  return { control, show };
}

const MOST = 96; // characters of a reason in a list, which is as wide as its longest line
const shortened = (words) => (words.length > MOST ? `${words.slice(0, MOST - 1)}…` : words);

// offered: pairs of a value and its words.
export function fill(select, offered) {
  const wanted = JSON.stringify(offered);
  if (select.dataset.values === wanted) return;
  select.dataset.values = wanted;
  select.replaceChildren(...offered.map(([value, words]) => new Option(words, value)));
}

// A few choices side by side, of which one is taken; the arrows move among them, as among radio buttons.
function segments(declared, current, say) {
  const control = element("div", "wb-seg");
  control.setAttribute("role", "radiogroup");
  const buttons = declared.choices.map(([value, words]) => {
    const made = button("", words, () => say(value));
    made.setAttribute("role", "radio");
    made.dataset.value = value;
    return made;
  });
  control.append(...buttons);
  const go = (place) => {
    buttons[place].focus();
    buttons[place].click();
  };
  arrows(control, go, () => buttons.indexOf(document.activeElement), () => buttons.length);
  const show = (value) => {
    for (const made of buttons) {
      const chosen = made.dataset.value === String(value);
      made.setAttribute("aria-checked", chosen);
      made.tabIndex = chosen ? 0 : -1;
    }
  };
  return { control, show, grouped: true };
}

const SIDES = { "x-": "left", "x+": "right", "y-": "bottom", "y+": "top", "z-": "back", "z+": "front" };

// A box for every side; the value is the list of those ticked.
function sides(declared, current, say) {
  const control = element("div", "wb-ticks");
  control.setAttribute("role", "group");
  const show = (value, options) => {
    if (control.children.length !== options.length) control.replaceChildren(...options.map(sideBox));
    for (const box of control.querySelectorAll("input")) box.checked = value.includes(box.value);
  };
  function sideBox(side) {
    const [line, box] = [element("label", ""), element("input", "wb-input")];
    Object.assign(box, { type: "checkbox", value: side });
    box.addEventListener("change", () => say([...control.querySelectorAll("input:checked")].map((at) => at.value)));
    // A minus as wide as the plus.
    line.append(box, `${side.replace("-", "−")} ${SIDES[side]}`);
    return line;
  }
  return { control, show, grouped: true };
}

// A button within the form; its words are the value.
function trigger(declared, current, say) {
  const control = button(`wb-btn${declared.primary ? " wb-primary" : ""}`, declared.label, () => say(true));
  return { control, show: (value) => (control.textContent = value || declared.label), untitled: true };
}

// No control, but a sentence among the fields.
function words() {
  const control = element("p", "wb-note");
  return { control, show: (value) => (control.textContent = value), untitled: true };
}

// A file of the user's, chosen or dropped; its bytes come along unless there are more than a message may have.
function file(declared, current, say) {
  const control = element("div", "wb-file");
  const [chosen, name] = [element("input", ""), element("span", "wb-note")];
  Object.assign(chosen, { type: "file", accept: declared.accept, hidden: true });
  control.append(button("wb-btn", "Choose a file", () => chosen.click()), chosen, name);
  async function take(taken) {
    if (!taken) return;
    const content = taken.size <= declared.most ? [await taken.arrayBuffer()] : [];
    say({ name: taken.name, size: taken.size }, content);
  }
  chosen.addEventListener("change", async () => {
    await take(chosen.files[0]);
    // So that the same file can be chosen again once it has been changed.
    chosen.value = "";
  });
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    control.addEventListener(kind, (event) => {
      event.preventDefault();
      control.classList.toggle("wb-over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  return { control, show: (value) => (name.textContent = value || "or drop one here"), grouped: true };
}
