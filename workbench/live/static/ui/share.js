import { tellKernel } from "../transport/kernel.js";
import { toClipboard } from "./clipboard.js";
import { element, press, uniqueName } from "./page.js";
import { saveAs } from "./saving.js";
import { follow } from "./traits.js";
import { wholeLink } from "./wholelink.js";

// Buttons that copy what the kernel writes about a problem, and a line that takes such a text back.

// A file goes to the page that asked for it; all widgets of a page have one name for it.
const ASKER = (window.workbenchPage ??= `${Date.now()}-${Math.random()}`);

function render({ model, el }) {
  const root = element("div", "wb-view wb-share");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "share this problem");
  // Keys belong to the fields here and not to the notebook's cells.
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const buttons = element("div", "wb-bar");
  for (const [what, text, tip] of model.get("actions")) buttons.append(press(text, tip, () => tellKernel(model, { kind: what, page: ASKER, text: `${location.origin}${location.pathname}` })));

  const opening = element("div", "wb-bar");
  const given = element("input", "wb-text");
  given.type = "text";
  given.id = uniqueName("open");
  given.placeholder = "cgw1. …  or  name.cg.json";
  given.spellcheck = false;
  const name = element("label", "", "Open shared problem");
  name.htmlFor = given.id;
  const open = () => tellKernel(model, { kind: "open", text: given.value });
  given.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
  });
  opening.append(name, given, press("Open", "show the problem that this text or file describes", open));
  const chooser = element("input", "");
  [chooser.type, chooser.accept, chooser.hidden] = ["file", ".json", true];
  chooser.addEventListener("change", async () => {
    const [file] = chooser.files;
    if (file) tellKernel(model, { kind: "open", name: file.name, text: await file.text() });
    // The same file may be chosen again.
    chooser.value = "";
  });
  opening.append(press("Choose file …", "open a problem that was saved to this computer", () => chooser.click()), chooser);

  const line = element("div", "wb-status");
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");
  const shown = element("textarea", "wb-text wb-copied");
  shown.readOnly = true;
  shown.spellcheck = false;
  shown.setAttribute("aria-label", "the text that was copied");
  root.append(buttons, opening, line, shown);
  el.append(root);

  const copied = () => wholeLink(model.get("text"));

  function show() {
    const text = copied();
    shown.hidden = !text;
    shown.value = text;
    shown.rows = Math.min(12, text.split("\n").length + (text.length > 100 && !text.trim().includes("\n") ? 2 : 0));
    say(model.get("said"), model.get("tone"));
  }

  function say(sentence, tone) {
    line.className = `wb-status wb-${tone}`;
    line.textContent = sentence;
    line.dataset.tone = tone;
    if (tone === "bad" && sentence) root.dispatchEvent(new CustomEvent("wb-refused", { bubbles: true }));
  }

  // Only what was just asked for is copied, not what a reload shows again.
  async function copy() {
    show();
    const text = copied();
    if (!text) return;
    shown.focus();
    shown.select();
    const done = await toClipboard(text);
    shown.dataset.copied = done;
    if (done) say(model.get("said"), "good");
    else say("The page may not write to the clipboard here. The text is selected below: press Ctrl+C, or Cmd+C.", "plain");
  }

  const receive = (content, buffers) => {
    if (content.page !== ASKER) return;
    if (content.kind === "file") saveAs(content.name, buffers[0]);
    if (content.kind === "short") project(content);
  };
  model.on("msg:custom", receive);
  const speak = () => say(model.get("said"), model.get("tone"));
  const forgotten = [follow(model, ["number"], copy), follow(model, ["said"], speak)];
  show();
  return () => {
    for (const forget of forgotten) forget();
    model.off("msg:custom", receive);
    root.remove();
  };
}

// A short address for all to see. The code is dark on light in every theme, as cameras expect it.
function project({ address, svg, note }) {
  const panel = element("dialog", "wb-beamer");
  panel.setAttribute("aria-label", "short address of this problem");
  const code = element("div", "wb-code");
  code.innerHTML = svg;
  code.firstChild.setAttribute("role", "img");
  code.firstChild.setAttribute("aria-label", `QR code of ${address}`);
  const acts = element("div", "wb-bar");
  const copy = press("Copy", "copy this address", async () => (copy.textContent = (await toClipboard(address)) ? "Copied" : "Select it"));
  acts.append(copy, press("Close", "Esc", () => panel.close()));
  panel.append(code, element("p", "wb-address", address.replace(/^https?:\/\//, "")), element("p", "wb-note", note), acts);
  panel.addEventListener("click", (event) => event.target === panel && panel.close());
  panel.addEventListener("close", () => panel.remove());
  document.body.append(panel);
  panel.showModal();
}

export default { render };
