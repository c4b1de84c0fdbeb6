import { copied, link } from "../transport/link.js";
import { tellKernel } from "../transport/kernel.js";
import { typeset } from "../ui/numbers.js";
import { ChartPlot } from "./chartplot.js";
import { plotPage } from "./plotpage.js";

// A plot of what the kernel has worked out, and words for those who cannot see it. painted(reported): for what lies over it.

export function chartView({ model, el }, painted = () => {}) {
  let reported = null;
  const page = plotPage(el, "wb-chart", {
    model,
    Drawing: ChartPlot,
    hear: { painted: hear, picked: ({ key }) => tellKernel(model, { kind: "picked", key }) },
  });
  const { canvas, engine } = page;
  const wire = link(model, apply, () => canvas.clientWidth > 0);

  function apply(content, buffer) {
    reported = content;
    const data = copied(buffer, Float32Array);
    engine.post({ kind: "take", content, data }, [data.buffer]);
    page.offer(content.logs);
    // On paper a dark picture is turned into a light one, which these colours do not survive; those with a sign do.
    canvas.toggleAttribute("data-map", content.layers.some(({ map }) => map && map !== "signed"));
    return content.live;
  }

  function hear(state, seq) {
    wire.painted(seq);
    Object.assign(canvas.dataset, { layers: state.count, name: state.name });
    const slope = canvas.dataset.slope ? ` ${canvas.dataset.slope}.` : "";
    canvas.setAttribute("aria-label", reported ? `${reported.spoken || described(reported)}${slope}` : "Nothing yet.");
    painted(state);
  }

  return {
    page,
    close() {
      wire.close();
      page.close();
    },
  };
}

// A plot that has no words of its own is named by its axes and by what it shows.
function described({ note, x, y, layers }) {
  const axes = [y.title, x.title].filter(Boolean).join(" against ");
  const names = [...new Set(layers.map(({ label, value }) => label?.replace("{}", typeset(value))).filter(Boolean))];
  return [axes, names.join(", "), layers.length ? "" : note].filter(Boolean).join(". ") || "Nothing yet.";
}
