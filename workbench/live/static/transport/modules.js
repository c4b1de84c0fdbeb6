// The modules of widgets, which travel as text: each is made when a widget is first shown, once for all that hold it.

const made = (globalThis.workbenchModules ??= new Map()); // by text

function moduleOf(text) {
  if (!made.has(text)) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    made.set(text, import(/* webpackIgnore: true */ url).finally(() => URL.revokeObjectURL(url)));
  }
  return made.get(text);
}

export function render(shown) {
  return moduleOf(shown.model.get("_script")).then((found) => found.default.render(shown));
}
