import { chartView } from "./chartview.js";

function render(shown) {
  return chartView(shown).close;
}

export default { render };
