import { TimelinePlot } from "./timelineplot.js";

// The timeline in a worker.

const plot = new TimelinePlot((report) => postMessage(report));
onmessage = ({ data }) => plot.handle(data);
postMessage({ kind: "started" });
