import { TimelinePlot } from "./timelineplot.js";
import { drawForPage } from "./stage.js";

// The timeline in a worker.

drawForPage(TimelinePlot);
