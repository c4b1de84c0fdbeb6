import { Plot } from "./plot.js";

// The plot in a worker.

const plot = new Plot((report) => postMessage(report));
onmessage = ({ data }) => plot.handle(data);
postMessage({ kind: "started" });
