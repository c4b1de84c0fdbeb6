import { tellKernel } from "../transport/kernel.js";
import { controlOf, fill } from "./formcontrols.js";
import { icon } from "./icons.js";
import { choiceMenu } from "./menu.js";
import { button, element, uniqueName, write } from "./page.js";
import { paragraphs } from "./prose.js";
import { follow } from "./traits.js";

// The form: drawn from the schema, kept in step with the state. What is typed goes to the kernel, which alone decides.

function render({ model, el }) {
  const schema = model.get("schema");
  const name = uniqueName("form");
  const root = element("div", "wb-form");
  root.setAttribute("role", "form");
  root.setAttribute("aria-label", schema.about);
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  const fields = new Map();
  let drawn = "";
  const state = () => model.get("state");
  const say = (kind, field, value, content) => tellKernel(model, { kind, field, value }, content);

  // What speaks against the choices of a field, once for each state.
  const ask = (at) => at in state().reasons || say("ask", at);

  // Which fields there are follows from the blocks chosen alone.
  function show() {
    const { values } = state();
    const shape = JSON.stringify(Object.keys(schema.blocks).map((kind) => values[kind]));
    if (shape !== drawn) draw();
    drawn = shape;
    for (const field of fields.values()) field.show();
    showHead();
  }

  function draw() {
    const held = root.contains(document.activeElement) ? document.activeElement.closest("[data-field]")?.dataset.field : "";
    fields.clear();
    const above = [...(schema.title ? [head] : []), ...(schema.example ? [example] : []), ...schema.main.flatMap((at) => group(at, true))];
    folded.replaceChildren(...[...schema.main, ...schema.advanced].flatMap((at) => group(at, false)));
    root.replaceChildren(...above, ...(folded.hasChildNodes() ? [advanced] : []));
    if (held) fields.get(held)?.control.focus();
  }

  // In sight: the choice, the first parameter of its block, and those that the form names. Under Advanced: all others.
  function group(at, main) {
    const isMain = schema.main.includes(at);
    const made = isMain === main ? [at in schema.blocks ? blockField(at) : plainField(at, schema.settings[at])] : [];
    if (!(at in schema.blocks)) return made;
    const { parameters } = schema.blocks[at][state().values[at]];
    const inSight = ({ name: called }, place) => place === 0 || schema.inSight.includes(called);
    const shown = isMain ? parameters.filter((parameter, place) => inSight(parameter, place) === main) : parameters;
    return [...made, ...shown.map((parameter) => plainField(`${at}.${parameter.name}`, parameter))];
  }

  // title: the words above the control; grouped: it is no label of a single element; about: what is said while the field
  // has the focus, or the pointer is on its label; brief: it is said then only.
  function frame(at, label, control, { grouped = false, about = "", restored = false, brief = true } = {}) {
    const box = element("div", "wb-f");
    box.dataset.field = at;
    box.classList.toggle("wb-brief", brief);
    control.id = `${name}-${at.replace(".", "-")}`;
    const title = element(grouped ? "div" : "label", "wb-lab");
    const named = element("span", "", label);
    if (grouped) {
      title.id = `${control.id}-title`;
      control.setAttribute("aria-labelledby", title.id);
    } else title.htmlFor = control.id;
    title.append(named);
    const explanation = element("p", "wb-note wb-explained");
    explanation.id = `${control.id}-about`;
    const error = element("p", "wb-err");
    error.id = `${control.id}-error`;
    error.setAttribute("role", "alert");
    const remark = element("p", "wb-note wb-remark");
    remark.setAttribute("role", "status");
    control.setAttribute("aria-describedby", `${explanation.id} ${error.id}`);
    box.append(title, control, explanation, error, remark);
    const complain = () => {
      const { wrong, notes, off, offReason, hidden, labels, about: changing } = state();
      const words = wrong[at] ?? "";
      box.hidden = Boolean(hidden?.includes(at));
      box.classList.toggle("wb-invalid", Boolean(words));
      control.setAttribute("aria-invalid", Boolean(words));
      if (error.dataset.words !== words) {
        error.dataset.words = words;
        error.replaceChildren(...(words ? [icon("bad"), element("span", "", words)] : []));
        if (words && restored) error.append(button("wb-link", "Use the default", () => say("default", at), "put the default value back"));
      }
      write(named, labels?.[at] ?? label);
      write(explanation, changing?.[at] ?? about);
      write(remark, notes[at] ?? "");
      const isOff = off.includes(at);
      for (const part of grouped ? control.querySelectorAll("button, input") : [control]) part.disabled = isOff;
      box.title = isOff ? offReason : "";
    };
    return { box, title, complain };
  }

  function plainField(at, declared) {
    const value = () => state().values[at];
    const made = controlOf(declared, value, (taken, content) => say("set", at, taken, content), () => ask(at));
    const restored = ["int", "float", "str", "choice", "formula"].includes(declared.kind) && !declared.lasting;
    const brief = !SAID_AT_REST.includes(declared.kind);
    const { box, title, complain } = frame(at, declared.label, made.control, { ...made, about: declared.about, restored, brief });
    title.hidden = Boolean(made.untitled);
    // The words of a field that is typed in stand below it then, and a tooltip would cover them.
    if (!made.short && declared.kind !== "str" && brief) made.control.title = declared.about || declared.help;
    box.classList.toggle("wb-tick", Boolean(made.ticked));
    box.classList.toggle("wb-short", Boolean(made.short));
    if (declared.heading) box.prepend(element("h4", "", declared.heading));
    fields.set(at, {
      control: made.control,
      show() {
        made.show(value(), state().options[at], state().reasons[at]);
        complain();
      },
    });
    return box;
  }

  function blockField(kind) {
    const control = element("button", "wb-pick");
    control.type = "button";
    const text = element("span", "");
    control.append(text, icon("down"));
    const { box, title, complain } = frame(kind, schema.settings[kind]?.label ?? LABELS[kind], control);
    const present = () => schema.blocks[kind][state().values[kind]];
    const more = button("wb-more", "", () => openHelp(present(), box));
    more.append(icon("help"));
    title.append(more);
    const options = () =>
      Object.entries(schema.blocks[kind]).map(([value, block]) => ({ ...block, value, reason: state().reasons[kind]?.[value] }));
    const menu = choiceMenu(control, LABELS[kind], () => byGroup(options()), () => state().values[kind], (value) => say("set", kind, value), () => ask(kind));
    box.append(menu);
    fields.set(kind, {
      control,
      show() {
        const block = present();
        write(text, block.label);
        control.dataset.value = block.code;
        control.title = [block.formula, block.cost, block.source].filter(Boolean).join("\n");
        more.title = `what ${block.label} is`;
        more.setAttribute("aria-label", more.title);
        menu.refresh();
        const unfolded = box.querySelector(".wb-facts");
        if (unfolded?.dataset.of !== block.code) unfolded?.remove();
        complain();
      },
    });
    return box;
  }

  // Asks the page's shell, if there is one, for its help panel; a form alone unfolds the text below the choice.
  function openHelp(block, box) {
    const asked = new CustomEvent("wb-help", { bubbles: true, cancelable: true, detail: block });
    if (!root.dispatchEvent(asked)) return;
    const shown = box.querySelector(".wb-facts");
    if (shown) return shown.remove();
    const facts = element("div", "wb-note wb-facts");
    facts.dataset.of = block.code;
    facts.append(element("p", "wb-m", block.formula), element("p", "", [block.cost, block.source].filter(Boolean).join(" · ")), paragraphs(block.about));
    box.append(facts);
  }

  const head = element("div", "wb-head");
  const acts = [["undo", "Undo", "take the last change back"], ["redo", "Redo", "make it again"], ["reset", "Reset", `the ${schema.about.toLowerCase()} that this page began with`]];
  // The header of a page undoes; a form alone has buttons for it.
  const buttons = acts.map(([kind, words, tip]) => button(`wb-link wb-${kind}`, words, () => say(kind), tip));
  head.append(element("h3", "", schema.title), element("span", "wb-fill"), ...(schema.undo ? buttons : []));
  function showHead() {
    const names = state().examples ?? schema.example?.names ?? [];
    fill(choose, [["", schema.example?.hint ?? ""], ...names.map((each) => [each, each])]);
    buttons[0].disabled = !state().canUndo;
    buttons[1].disabled = !state().canRedo;
    const inside = [...fields].filter(([, field]) => advanced.contains(field.control)).map(([at]) => at);
    const changed = inside.filter((at) => state().changed.includes(at)).length;
    const wrong = inside.some((at) => state().wrong[at]);
    write(counted, `${inside.length} fields${changed ? `, ${changed} changed` : ""}${wrong ? ", one is wrong" : ""}`);
    if (wrong) advanced.open = true;
  }

  const example = element("div", "wb-f wb-example");
  const choose = element("select", "wb-input");
  choose.id = `${name}-example`;
  const exampleTitle = element("label", "wb-lab", schema.example?.label);
  exampleTitle.htmlFor = choose.id;
  choose.addEventListener("change", () => {
    if (choose.value) say("example", choose.value);
    choose.value = "";
  });
  example.append(exampleTitle, choose);

  const advanced = element("details", "wb-advanced");
  const summary = element("summary", "", "Advanced");
  const counted = element("span", "wb-note");
  const folded = element("div", "wb-folded");
  summary.append(counted);
  advanced.append(summary, folded);

  const forget = follow(model, ["state"], show);
  show();
  return () => {
    forget();
    root.remove();
  };
}

// Kinds of fields whose words are about what was typed or chosen, so that they stand below at all times.
const SAID_AT_REST = ["formula", "file", "sides", "words"];

const LABELS = {
  problem: "Problem",
  solver: "Solver",
  preconditioner: "Level 1: preconditioner",
  deflation: "Level 2: deflation",
  coarse: "Coarse solver",
  variant: "Projection",
};

function byGroup(options) {
  const groups = [...new Set(options.map((option) => option.group))];
  return groups.flatMap((group) => options.filter((option) => option.group === group));
}

export default { render };
