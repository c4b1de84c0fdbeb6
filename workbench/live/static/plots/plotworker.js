import { Plot } from "./plot.js";
import { drawForPage } from "../transport/stage.js";

// The plot in a worker.

drawForPage(Plot);
