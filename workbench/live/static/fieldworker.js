import { FieldPlot } from "./fieldplot.js";

// The field picture in a worker.

const plot = new FieldPlot((report) => postMessage(report));
onmessage = ({ data }) => plot.handle(data);
postMessage({ kind: "started" });
