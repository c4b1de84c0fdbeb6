import { ConvergencePlot } from "./convergenceplot.js";
import { drawForPage } from "../transport/stage.js";

// The convergence plot in a worker.

drawForPage(ConvergencePlot);
