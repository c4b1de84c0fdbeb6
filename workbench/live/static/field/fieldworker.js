import { FieldPlot } from "./fieldplot.js";
import { drawForPage } from "../transport/stage.js";

// The field picture in a worker.

drawForPage(FieldPlot);
