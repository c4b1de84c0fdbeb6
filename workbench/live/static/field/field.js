import { typeset } from "../ui/numbers.js";
import { startDrawing } from "../transport/engine.js";
import { fieldChoices, sectionControls } from "./fieldcontrols.js";
import { FieldPlot } from "./fieldplot.js";
import { filmControl } from "./filmcontrol.js";
import { copied, link } from "../transport/link.js";
import { element, focusable, keepInStep, tallOf, write } from "../ui/page.js";
import { linked } from "../ui/linked.js";
import { titleOf } from "./colorscale.js";

// The field view: the picture on a canvas, and around it what needs a page, the choices, the title, and words for those
// who cannot see it.

function render({ model, el }) {
  const root = element("div", "wb-view wb-field");
  el.append(root);
  const heading = element("div", "wb-heading");
  const plot = element("div", "wb-plot");
  const canvas = focusable();
  canvas.style.height = "24px";
  plot.append(canvas);
  const note = element("div", "wb-note");
  const choices = fieldChoices(model);
  const sections = sectionControls(model);
  const film = filmControl(model, (iteration) => others.tell(iteration));
  const others = linked(model, ({ iteration }) => film.look(iteration));
  root.append(choices.row, heading, plot, film.row, sections.row, note);
  const hear = {
    painted,
    height({ tall }) {
      canvas.style.height = `${tall}px`;
    },
  };
  const engine = startDrawing(canvas, model.get("_worker"), FieldPlot, (report) => hear[report.kind](report));
  const wire = link(model, apply);

  function apply(content, buffer) {
    const bytes = copied(buffer, Uint8Array);
    engine.post({ kind: "news", content, bytes }, [bytes.buffer]);
    choices.show(content);
    sections.show(content);
    film.show(content);
    return false;
  }

  // What is on the canvas, in words, and in numbers for whoever tests or measures.
  function painted({ seq, paints, frames, picture }) {
    wire.painted(seq);
    const { width: columns = 0, height: rows = 0, segments = 0, title = "", note: reported = "" } = picture;
    const { quantity = "", iteration = 0, scale = "", low = 0, high = 0, threshold = 0 } = picture;
    write(heading, title);
    write(note, reported);
    canvas.setAttribute("aria-label", [title && `${title}.`, columns && spoken(picture), reported].filter(Boolean).join(" "));
    const numbers = { columns, rows, segments, paints, frames, iteration, low, high, threshold };
    Object.assign(canvas.dataset, { ...numbers, title, quantity, scale });
  }

  const stage = keepInStep(canvas, engine, () => tallOf(model));
  return () => {
    choices.close();
    sections.close();
    film.close();
    others.close();
    stage.close();
    wire.close();
    engine.close();
    root.remove();
  };
}

function spoken(picture) {
  const { low, high, kinds = [] } = picture;
  const title = titleOf(picture);
  if (kinds.length) return `${title}.`;
  return low === high ? `${title}: ${typeset(low)}.` : `${title} from ${typeset(low)} to ${typeset(high)}.`;
}

export default { render };
