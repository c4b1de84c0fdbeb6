import { ChartPlot } from "./chartplot.js";
import { drawForPage } from "../transport/stage.js";

// A plot of a scene in a worker.

drawForPage(ChartPlot);
