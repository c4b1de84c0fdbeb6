// What every widget carries in place of its own module: that is made when a widget is first shown, once for all that hold it.

const made = (globalThis.workbenchModules ??= new Map()); // by text

function moduleOf(text) {
  if (!made.has(text)) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    made.set(text, import(/* webpackIgnore: true */ url).finally(() => URL.revokeObjectURL(url)));
  }
  return made.get(text);
}

async function render(shown) {
  const found = await moduleOf(shown.model.get("_script"));
  return found.default.render(shown);
}

export default { render };
