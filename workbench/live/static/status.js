// One line that says what goes on, read out by screen readers when it changes.

function render({ model, el }) {
  const line = document.createElement("div");
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  el.append(line);
  const show = () => {
    line.className = `wb-status wb-${model.get("tone")}`;
    line.dataset.state = model.get("state");
    line.textContent = model.get("text");
    model.send({ kind: "read" });
  };
  const names = ["change:text", "change:tone", "change:state"];
  for (const name of names) model.on(name, show);
  show();
  return () => {
    for (const name of names) model.off(name, show);
  };
}

export default { render };
