import { Plot } from "./plot.js";
import { drawForPage } from "./stage.js";

// The plot in a worker.

drawForPage(Plot);
