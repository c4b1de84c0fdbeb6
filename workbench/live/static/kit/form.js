import { tellKernel } from "../transport/kernel.js";
import { icon } from "./icons.js";
import { choiceMenu } from "./menu.js";
import { element, uniqueName, write } from "./page.js";
import { followTheme } from "./themechoice.js";

// The form: drawn from the schema, kept in step with the state. What is typed goes to the kernel, which alone decides.

function render({ model, el }) {
  followTheme();
  const schema = model.get("schema");
  const name = uniqueName("form");
  const root = element("div", "wb-form");
  root.setAttribute("role", "form");
  root.setAttribute("aria-label", "Problem and method");
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(root);
  const fields = new Map();
  let drawn = "";
  let unfolded = false;
  const state = () => model.get("state");
  const say = (kind, field, value) => tellKernel(model, { kind, field, value });

  // Which fields there are follows from the blocks chosen alone.
  function show() {
    const { values } = state();
    const shape = JSON.stringify(Object.keys(schema.blocks).map((kind) => values[kind]));
    if (shape !== drawn) draw();
    drawn = shape;
    for (const [at, field] of fields) field.show(at);
    showHead();
  }

  function draw() {
    const held = root.contains(document.activeElement) ? document.activeElement.closest("[data-field]")?.dataset.field : "";
    fields.clear();
    root.replaceChildren(head, example, ...schema.main.flatMap((at) => group(at, true)), advanced);
    folded.replaceChildren(...[...schema.main, ...schema.advanced].flatMap((at) => group(at, false)));
    advanced.open = unfolded;
    if (held) fields.get(held)?.control.focus();
  }

  // In sight: the choice and the first parameter of its block. Under Advanced: all other parameters.
  function group(at, main) {
    const isMain = schema.main.includes(at);
    const made = isMain === main ? [at in schema.blocks ? blockField(at) : plainField(at, schema.settings[at])] : [];
    if (!(at in schema.blocks)) return made;
    const { parameters } = schema.blocks[at][state().values[at]];
    const shown = isMain ? (main ? parameters.slice(0, 1) : parameters.slice(1)) : parameters;
    return [...made, ...shown.map((parameter) => plainField(`${at}.${parameter.name}`, parameter))];
  }

  function frame(at, label, code, control) {
    const box = element("div", "wb-f");
    box.dataset.field = at;
    control.id = `${name}-${at.replace(".", "-")}`;
    const title = element("label", "wb-lab", label);
    title.htmlFor = control.id;
    title.append(element("code", "", code));
    const error = element("p", "wb-err");
    error.id = `${control.id}-error`;
    error.setAttribute("role", "alert");
    const remark = element("p", "wb-note wb-remark");
    remark.setAttribute("role", "status");
    box.append(title, control, error, remark);
    const complain = () => {
      const { wrong, notes, off, offReason } = state();
      const words = wrong[at] ?? "";
      box.classList.toggle("wb-invalid", Boolean(words));
      control.setAttribute("aria-invalid", Boolean(words));
      if (words) control.setAttribute("aria-describedby", error.id);
      if (error.dataset.words !== words) {
        error.dataset.words = words;
        error.replaceChildren(...(words ? [icon("bad"), element("span", "", words)] : []));
        if (words && !(at in schema.blocks)) error.append(link("Use the default", "put the default value back", () => say("default", at)));
      }
      write(remark, notes[at] ?? "");
      control.disabled = off.includes(at);
      box.title = control.disabled ? offReason : "";
    };
    return { box, title, control, complain };
  }

  function plainField(at, declared) {
    const control = declared.kind === "choice" ? element("select", "wb-input") : element("input", "wb-input");
    const isTick = declared.kind === "bool";
    const { box, complain } = frame(at, declared.label, declared.name.replace("_", "\u200b_"), control);
    control.title = declared.help;
    if (isTick) control.type = "checkbox";
    if (declared.placeholder) control.placeholder = declared.placeholder;
    if (declared.kind === "int" || declared.kind === "float") control.inputMode = "decimal";
    control.spellcheck = false;
    control.autocomplete = "off";
    box.classList.toggle("wb-tick", isTick);
    box.classList.toggle("wb-short", !isTick && declared.kind !== "str" && declared.kind !== "choice");
    const commit = () => say("set", at, isTick ? control.checked : control.value);
    control.addEventListener("change", commit);
    // JupyterLab keeps Enter from the browser, so that no change would be reported.
    control.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || isTick) return;
      event.stopPropagation();
      if (String(state().values[at]) !== control.value) commit();
    });
    const names = new Map(declared.choices);
    fields.set(at, {
      control,
      show() {
        const value = state().values[at];
        if (isTick) control.checked = value;
        else {
          if (declared.kind === "choice") fill(control, state().options[at] ?? [...names.keys()], names);
          // What is being typed is not taken away by an answer to what was typed before.
          if (document.activeElement !== control || control.dataset.sent !== String(value)) control.value = value;
          control.dataset.sent = value;
        }
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
    const { box, title, complain } = frame(kind, schema.settings[kind]?.label ?? LABELS[kind], "", control);
    const code = title.querySelector("code");
    const facts = element("p", "wb-note wb-facts");
    const options = () =>
      Object.entries(schema.blocks[kind]).map(([value, block]) => ({ ...block, value, reason: state().reasons[kind]?.[value] }));
    const menu = choiceMenu(control, LABELS[kind], () => byGroup(options()), () => state().values[kind], (value) => say("set", kind, value));
    control.after(facts);
    box.append(menu);
    fields.set(kind, {
      control,
      show() {
        const block = schema.blocks[kind][state().values[kind]];
        write(text, block.label);
        write(code, block.code);
        control.dataset.value = block.code;
        if (facts.dataset.of !== block.code) {
          facts.dataset.of = block.code;
          const formula = element("span", "wb-m", block.formula);
          const more = link("help", `what ${block.label} is`, () => openHelp(block));
          facts.replaceChildren(formula, `${[block.cost, block.source].filter(Boolean).join(" · ")} `, more);
        }
        complain();
      },
    });
    return box;
  }

  // Asks the page's shell, if there is one, for its help panel; a form alone unfolds the text below the choice.
  function openHelp(block) {
    const asked = new CustomEvent("wb-help", { bubbles: true, cancelable: true, detail: block });
    if (!root.dispatchEvent(asked)) return;
    const place = root.querySelector(`.wb-facts[data-of="${block.code}"]`);
    const shown = place.querySelector("pre");
    if (shown) shown.remove();
    else place.append(element("pre", "wb-about", block.about));
  }

  const head = element("div", "wb-head");
  const acts = [["undo", "Undo", "take the last change back"], ["redo", "Redo", "make it again"], ["reset", "Reset", "the problem and method that this page began with"]];
  const buttons = acts.map(([kind, words, tip]) => link(words, tip, () => say(kind)));
  head.append(element("h3", "", "Method"), element("span", "wb-fill"), ...buttons);
  function showHead() {
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
  const exampleTitle = element("label", "wb-lab", "Example");
  exampleTitle.htmlFor = choose.id;
  fill(choose, ["", ...schema.examples], new Map([["", "Choose a worked example …"]]));
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
  advanced.addEventListener("toggle", () => (unfolded = advanced.open));

  model.on("change:state", show);
  show();
  return () => {
    model.off("change:state", show);
    root.remove();
  };
}

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

function fill(select, values, names) {
  const wanted = JSON.stringify(values);
  if (select.dataset.values === wanted) return;
  select.dataset.values = wanted;
  select.replaceChildren(...values.map((value) => new Option(names.get(value) ?? value, value)));
}

function link(words, tip, act) {
  const made = element("button", "wb-link", words);
  made.type = "button";
  made.title = tip;
  made.addEventListener("click", act);
  return made;
}

export default { render };
