import { TimelinePlot } from "./timelineplot.js";
import { drawForPage } from "../transport/stage.js";

// The timeline in a worker.

drawForPage(TimelinePlot);
