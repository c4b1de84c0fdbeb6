import { element } from "./page.js";

// Traits of a model on the page: who hears of their changes, and the controls that show and set them.

// act() is called after a change of one of the traits, until what is returned is called.
export function follow(model, traits, act) {
  const changes = traits.map((trait) => `change:${trait}`).join(" ");
  model.on(changes, act);
  return () => model.off(changes, act);
}

export function setTraits(model, values) {
  for (const [trait, value] of Object.entries(values)) model.set(trait, value);
  model.save_changes();
}

// A control of a kind, "select" or the type of an input. Keys on it are not the notebook's.
export function control(kind, spoken, settings = {}) {
  const made = element(kind === "select" ? kind : "input", "");
  if (kind !== "select") made.type = kind;
  made.setAttribute("aria-label", spoken);
  made.setAttribute("data-lm-suppress-shortcuts", "true");
  return Object.assign(made, settings);
}

export function selectOf(spoken, options, text = (option) => option) {
  const made = control("select", spoken);
  made.append(...options.map((option) => new Option(text(option), option)));
  return made;
}

// A control with its name, which stands behind a box to tick.
export function labelled(name, made, kind = "") {
  const root = element("label", kind);
  root.append(...(made.type === "checkbox" ? [made, name] : [name, made]));
  return root;
}

// Keeps controls, by trait, in step with the model. shown() is called after they were.
export function bind(model, controls, shown = () => {}) {
  const pull = () => {
    for (const [trait, made] of Object.entries(controls)) {
      if (made.type === "checkbox") made.checked = model.get(trait);
      else made.value = String(model.get(trait));
    }
    shown();
  };
  for (const [trait, made] of Object.entries(controls)) {
    const read = () => (made.type === "checkbox" ? made.checked : typeof model.get(trait) === "number" ? Number(made.value) : made.value);
    made.addEventListener(made.type === "range" ? "input" : "change", () => setTraits(model, { [trait]: read() }));
  }
  const close = follow(model, Object.keys(controls), pull);
  pull();
  return { pull, close };
}
