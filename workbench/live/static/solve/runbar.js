import { icon } from "../ui/icons.js";
import { countText } from "../ui/numbers.js";
import { timeText } from "../ui/units.js";
import { watchNeighbours, whenOnPage } from "../ui/onpage.js";
import { element, write } from "../ui/page.js";
import { ANSWER_MS, tellKernel } from "../transport/kernel.js";
import { turns } from "../transport/throttle.js";

// The bar of a run, pinned to the top: buttons, phases and progress, and a sentence that screen readers read out.

const BUTTONS = [["run", "play", "R"], ["stop", "stop", "S"], ["pause", "pause", ""], ["step", "", ""], ["stop_all", "", ""]];
const ACTS = { Play: "play", Pause: "pause", Replay: "replay", Resume: "play" }; // signs of buttons that change
const SIGNS = { good: "good", bad: "bad", busy: "busy" };
const REST = "rest"; // what is in no other phase, as setup_phases.py calls it
const MOST = 4; // phases with a segment of their own: the longest whose words have room; the others are summed

function render({ model, el }) {
  el.classList.add("wb-runbar-host");
  const root = element("div", "wb-runbar");
  root.setAttribute("data-lm-suppress-shortcuts", "true");
  const made = new Map(BUTTONS.map(([name, sign, key]) => [name, press(name, sign, key)]));
  const state = element("div", "wb-state");
  const bar = element("div", "wb-phases");
  const line = element("div", "wb-line");
  const sign = element("span", "wb-sign");
  const words = element("span", "wb-words");
  words.setAttribute("role", "status");
  words.setAttribute("aria-live", "polite");
  const toField = element("button", "wb-link", "Show the field");
  toField.type = "button";
  toField.addEventListener("click", showField);
  const correct = press("correct", "", "");
  const when = element("span", "wb-note wb-when");
  line.append(sign, words, correct, toField);
  state.append(bar, line, when);
  root.append(...made.values(), state);
  el.append(root);

  function press(name, sign, key) {
    const button = element("button", name === "run" ? "wb-btn wb-primary" : "wb-btn");
    button.type = "button";
    button.dataset.act = name;
    if (sign) button.append(icon(sign));
    button.append(element("span", "", ""));
    if (key) button.append(element("kbd", "wb-key", key));
    button.addEventListener("click", () => tellKernel(model, { press: name }));
    return button;
  }

  function showButtons() {
    const buttons = model.get("buttons");
    for (const [name, button] of made) button.hidden = !(name in buttons);
    correct.hidden = buttons.correct?.off ?? true;
    for (const [name, { off, words: text, tip }] of Object.entries(buttons)) {
      const button = made.get(name) ?? correct;
      if (text in ACTS && button.dataset.sign !== ACTS[text]) {
        button.querySelector("svg")?.replaceWith(icon(ACTS[text]));
        button.dataset.sign = ACTS[text];
      }
      write(button.querySelector("span"), text);
      [button.disabled, button.title] = [off, tip];
      button.setAttribute("aria-label", name === "step" ? "One iteration" : text);
      if (name === "stop_all") button.hidden = off;
    }
    toField.hidden = !model.get("wrong");
  }

  // A sentence that the result below shows too is for screen readers alone.
  const isTurn = turns(ANSWER_MS);
  function showWords() {
    const [tone, now] = [model.get("tone"), model.get("state")];
    words.dataset.state = now;
    words.dataset.tone = tone;
    write(words, model.get("text"));
    words.title = model.get("text");
    line.classList.toggle("wb-heard", model.get("shown_elsewhere"));
    el.closest(".wb-solving")?.classList.toggle("wb-othernews", !model.get("shown_elsewhere"));
    sign.replaceChildren(...(SIGNS[tone] ? [icon(SIGNS[tone], `wb-${tone}`)] : []));
    root.dataset.tone = tone;
    if (isTurn()) tellKernel(model, { kind: "read" });
  }

  function showProgress() {
    const { phases = [], iterations = 0, left, spent = 0, endedAt = "", when: ending = "", state: now, word = "" } = model.get("progress");
    bar.hidden = model.get("wrong") || (!phases.length && !iterations);
    bar.classList.toggle("wb-ended", Boolean(endedAt));
    const setup = phases.reduce((sum, [, seconds]) => sum + seconds, 0);
    const whole = setup + spent;
    when.hidden = model.get("wrong");
    write(when, ending);
    const last = [];
    if (iterations) {
      const share = endedAt ? 1 : left == null ? 0 : iterations / (iterations + left);
      const text = word ? `${Math.round(100 * share)}\u202f%` : endedAt ? timeText(spent) : left == null ? countText(iterations) : `${countText(iterations)} of about ${countText(iterations + left)}`;
      last.push(segment(word || "iterations", text, "wb-solid", share, Math.max(spent / whole, 1 / 4)));
    }
    // How long each phase took is shown at the end; before, the present one is, and during iterations theirs is the progress.
    const present = phases.find(([, , done]) => !done)?.[0] ?? "setup";
    let most = endedAt ? MOST : 0;
    for (;;) {
      const shown = word ? [] : most ? longest(phases, most) : [[present, setup, present === "setup"]];
      bar.replaceChildren(...shown.map(([name, seconds, done]) => segment(name, done ? timeText(seconds) : "…", "wb-hatched", done ? 1 : 0.5, seconds / whole)), ...last);
      // Reading a width lays out the page, so not where nothing can be left out.
      if (!most || bar.scrollWidth <= bar.clientWidth) break;
      most--;
    }
    bar.title = endedAt || now === "queued" ? "hatched: setup; solid: iterations" : "";
  }

  // weight: its share of the time.
  function segment(name, text, kind, share, weight) {
    const part = element("span", kind);
    // In thousandths, as segments whose weights add up to less than one leave a part of the bar empty.
    part.style.setProperty("--w", Math.max(1000 * weight || 0, 1));
    const track = element("i", "");
    track.style.setProperty("--p", `${100 * share}%`);
    const words = element("em", "", "");
    words.append(element("span", "", name), ` ${text}`);
    part.append(track, words);
    part.title = `${name} ${text}`;
    return part;
  }

  // In the order in which they were, the shorter ones as one.
  function longest(phases, most) {
    const kept = new Set(phases.filter(([name]) => name !== REST).sort((one, other) => other[1] - one[1]).slice(0, most));
    const others = phases.filter((phase) => phase[2] && !kept.has(phase));
    const rest = others.reduce((sum, [, seconds]) => sum + seconds, 0);
    return [...phases.filter((phase) => kept.has(phase) || !phase[2]), ...(others.length ? [["other setup", rest, true]] : [])];
  }

  function showField() {
    const view = el.closest(".wb-solving") ?? document;
    const field = view.querySelector(".wb-form .wb-invalid");
    field?.closest("details")?.setAttribute("open", "");
    field?.scrollIntoView({ block: "center" });
    field?.querySelector(".wb-input, .wb-pick")?.focus();
  }

  let width = 0;
  const resized = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === width) return;
    width = contentRect.width;
    showProgress();
  });
  resized.observe(bar);
  const listeners = [
    ["change:buttons", showButtons], ["change:wrong", showButtons], ["change:wrong", showProgress], ["change:text", showWords], ["change:tone", showWords], ["change:shown_elsewhere", showWords],
    ["change:state", showWords], ["change:progress", showProgress],
  ];
  for (const [name, show] of listeners) model.on(name, show);
  for (const show of [showButtons, showWords, showProgress]) show();
  const ends = [watchNeighbours(model, el), whenOnPage(el, () => (showWords(), () => {}))];
  return () => {
    ends.forEach((end) => end());
    resized.disconnect();
    for (const [name, show] of listeners) model.off(name, show);
    root.remove();
  };
}

export default { render };
