import { link, copied, MISSED } from "../transport/link.js";
import { helpButton } from "../ui/helpbutton.js";
import { element, focusable, keepInStep, press, write } from "../ui/page.js";
import { bind, control, follow, labelled, setTraits } from "../ui/traits.js";
import { startDrawing, workerSource } from "../transport/engine.js";
import { linked } from "../ui/linked.js";
import { FLOW_BYTES } from "./flows.js";
import { HELP, gestures } from "./gestures.js";
import { kernelTable } from "./kerneltable.js";
import { moment } from "./timelineaxes.js";
import { TimelinePlot, heightOf, EVENT_BYTES } from "./timelineplot.js";
import { whenNew } from "../transport/throttle.js";
import { countText } from "../ui/numbers.js";
import { amountText, rateText, timeText } from "../ui/units.js";

// The timeline view: lanes on a canvas, and around it what needs a page, the buttons, the legend, the readout and words for
// those who cannot see it.

const EMPTY = {
  run: 0, state: "none", live: false, over: true, note: "", label: "", machine: "", title: "", notes: [], groups: [],
  words: "",
};

function render({ model, el }) {
  const root = element("div", "wb-view wb-timeline");
  const bar = element("div", "wb-bar");
  const about = element("div", "wb-about");
  const plot = element("div", "wb-plot");
  const canvas = focusable();
  const note = element("div", "wb-hollow");
  const readout = element("div", "wb-readout");
  const words = element("div", "wb-words");
  const table = kernelTable();
  // Among other views it would keep them far away.
  table.root.open = !model.get("group");
  readout.hidden = true;
  plot.append(canvas, note, readout);
  const [help, ask] = helpButton(canvas, HELP, "timeline");
  root.append(bar, plot, help, words, table.root);
  el.append(root);

  let [reported, kernels, total, synchronous, zoom] = [EMPTY, [], 0, false, 1];
  let shown = { seq: 0, paints: 0, count: 0, iterations: 0, lanes: [], totals: [], mode: "all", from: 0, to: 0, summed: 0 };
  const hear = { painted, readout: showReadout };
  const engine = startDrawing(canvas, workerSource(model, TimelinePlot), TimelinePlot, (report) => hear[report.kind](report));
  const act = gestures(canvas, engine, () => total === 0);
  const follow = press("Follow", "keep the last iterations in view while the run continues", () => {
    engine.post({ kind: "follow", on: shown.mode !== "follow" });
  });
  const all = press("Show all", "the whole run (Home)", act.all);
  const closer = press("Zoom in", "or the wheel, or +", act.closer);
  const further = press("Zoom out", "or the wheel, or −", act.further);
  const choices = [
    choice(model, "run", "compare with run", "run to compare with"),
    choice(model, "machine", "compare with", "machine to compare with", "with machine"),
    choice(model, "accelerator", "and", "accelerator to compare with"),
  ];
  const presses = element("div", "wb-presses");
  presses.append(follow, closer, further, all, ask);
  bar.append(about, ...choices.map(({ root }) => root), presses);
  const others = linked(model, ({ iteration, kernel }) => {
    engine.post({ kind: "link", linked: iteration === null && kernel === null ? null : { iteration, kernel } });
  });
  const showTitle = whenNew((label, origin, title, notes) => {
    const rest = label && title ? ` · ${title}` : title;
    about.replaceChildren(element("strong", "", label), origin ? ` on ${origin}` : "", rest);
    about.title = [about.textContent, ...notes].join("\n");
  });
  const wire = link(model, apply, () => canvas.clientWidth > 0);
  const stage = keepInStep(canvas, engine, fitHeight, (colours) => {
    zoom = colours.zoom;
    fitHeight();
    showTable();
  });
  showAbout();

  function apply(content, buffer) {
    if (content.reset) [kernels, total, synchronous] = [[], 0, true];
    const bytes = copied(buffer, Uint8Array).buffer;
    const whole = bytes.byteLength === EVENT_BYTES * content.count + FLOW_BYTES * content.flows;
    synchronous &&= whole && content.first === total && content.firstKernel === kernels.length;
    if (!synchronous) return MISSED;
    reported = content;
    kernels = kernels.concat(content.kernels);
    fitHeight();
    total += content.count;
    engine.post({ kind: "news", content, bytes }, [bytes]);
    showAbout();
    return content.live;
  }

  function showAbout() {
    showTitle(reported.label, reported.machine, reported.title, reported.notes);
    write(words, reported.words);
    write(note, reported.note);
    note.hidden = !reported.note;
    canvas.dataset.label = reported.label;
    enable();
    describe();
  }

  function enable() {
    // What is over grows no more.
    follow.hidden = reported.over;
    follow.disabled = !total;
    follow.setAttribute("aria-pressed", shown.mode === "follow" && !reported.over);
    all.disabled = !total || shown.mode === "all";
    [closer.disabled, further.disabled] = [!total, !total || shown.mode === "all"];
  }

  function painted(state) {
    wire.painted(state.seq);
    shown = state;
    if (model.get("pointed") !== state.summed) setTraits(model, { pointed: state.summed });
    const { count, lanes, live, paints, boxes, merged, mode, milliseconds, flows } = state;
    const selected = state.selected ? state.selected.map((seconds) => 1e3 * seconds).join() : "";
    const [from, to] = [1e3 * state.from, 1e3 * state.to];
    const ends = state.ends.map((seconds) => 1e3 * seconds).join();
    Object.assign(canvas.dataset, { count, lanes: lanes.join(), ends, live, paints, boxes, merged, mode, from, to, milliseconds, flows, selected });
    showTable();
    enable();
    describe();
  }

  function showTable() {
    const { selected, summed } = shown;
    if (selected) table.root.open = true;
    // Of several sets of lanes the one under the pointer.
    const of = reported.groups.length ? ` (${reported.groups[summed]?.name})` : "";
    const stretch = selected ? `Selected: ${timeText(selected[1] - selected[0])} from ${moment(selected[0])}` : "";
    const mine = kernels.filter(({ group }) => group === summed);
    table.show(mine, shown.totals, stretch ? `${stretch}, by kernel${of}` : `The whole run by kernel${of}`, stretch && `${stretch}: no kernel ran${of}`);
  }

  function describe() {
    const events = `${countText(shown.count)} events on ${shown.lanes.join(", ")}`;
    const range = `Shown: ${timeText(Math.max(0, shown.from))} to ${timeText(shown.to)}, iterations up to ${shown.iterations}`;
    const state = reported.live ? "running" : "at rest";
    const spoken = shown.count ? `${reported.label}. ${events}. ${range}. ${state}. ${reported.words}` : reported.note;
    canvas.setAttribute("aria-label", `Timeline of ${reported.title || "a run"}. ${spoken}`);
  }

  // strange: the event is of another run than that of the other views, whose iterations are not its own.
  function showReadout({ event, iteration, others: more, x, y, strange }) {
    readout.hidden = !event;
    others.tell(strange ? null : iteration, event?.code ?? null);
    if (!event) return;
    const { name, lane, start, seconds, bytes, waits } = event;
    const moved = bytes ? [amountText(bytes), rateText(bytes, seconds)] : ["bytes not known"];
    const lines = [
      [timeText(seconds), ...moved].filter(Boolean).join(" · "),
      `iteration ${countText(iteration)} · ${lane} · from ${moment(start)}`,
      ...(more ? [`the longest of ${countText(more + 1)} events here; zoom in to tell them apart`] : []),
      ...(waits.length ? [`waits for ${waits.join(" and ")}`] : []),
    ];
    readout.replaceChildren(element("strong", "", name), ...lines.map((text) => element("div", "", text)));
    const left = Math.max(0, Math.min(x + 10, canvas.clientWidth - readout.offsetWidth - 4));
    Object.assign(readout.style, { left: `${left}px`, top: `${y + 6}px` });
  }

  function fitHeight() {
    const lanes = new Set(kernels.map(({ lane, group }) => `${lane} ${group}`)).size;
    const height = Math.round(zoom * heightOf(lanes, model.get("height"), reported.groups.length));
    canvas.style.height = `${height}px`;
    return height;
  }

  return () => {
    for (const each of choices) each.close();
    others.close();
    stage.close();
    wire.close();
    engine.close();
    root.remove();
  };
}

// What the run is compared with: another run, or a machine and its accelerator; hidden where there is nothing to choose.
// next: the text next to the choice of a run.
function choice(model, trait, text, spoken, next = text) {
  const select = control("select", spoken);
  const root = labelled(text, select, "wb-machine");
  const bound = bind(model, { [trait]: select }, () => {
    const offered = model.get(`${trait}s`);
    root.hidden = !offered.length;
    root.firstChild.data = model.get("runs").length ? next : text;
    select.replaceChildren(new Option("none", ""), ...offered.map(([name, title]) => new Option(title, name)));
    select.value = model.get(trait);
    if (select.selectedIndex < 0) select.value = "";
  });
  const forget = follow(model, [`${trait}s`, "runs"], bound.pull);
  return {
    root,
    close() {
      forget();
      bound.close();
    },
  };
}

export default { render };
