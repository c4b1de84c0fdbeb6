import { CellLayer } from "./celllayer.js";
import { CurveLayer } from "./curvelayer.js";
import { BarLayer, LineLayer, PointLayer } from "./marklayers.js";
import { ParallelLayer } from "./parallellayer.js";
import { Plot } from "./plot.js";

// A plot of what the kernel has worked out: a scene of layers, sent as a whole whenever it changes.

export class ChartPlot extends Plot {
  constructor(hear) {
    super(hear);
    [this.scene, this.growing] = [null, false];
  }

  get live() {
    return this.growing;
  }

  get bare() {
    return Boolean(this.scene?.bare);
  }

  get square() {
    return this.scene?.square ? (this.x.high - this.x.low) / (this.y.high - this.y.low) : 0;
  }

  get ways() {
    return this.scene?.ways ?? "x";
  }

  // content: x and y as a Scale takes them, with `span` where it is not that of the layers; layers: what they say of
  // themselves, their numbers in `data` one after another. name: of the picture; as long as it stays, so does the zoom.
  take({ content, data }) {
    const before = this.scene;
    this.scene = content;
    [this.seq, this.growing] = [content.seq, content.live];
    for (const way of ["x", "y"]) {
      const log = before?.name === content.name ? this[way].log : content[way].log;
      this[way].is({ ...content[way], log });
    }
    if (before?.name !== content.name) {
      this.shown = { x: null, y: null };
      [this.measured, this.cursor] = [null, null];
      this.off.clear();
    }
    let used = 0;
    const next = (count) => data.subarray(used, (used += count));
    this.layers = content.layers.map((reported, place) => Object.assign(layerOf(reported, next), { key: reported.key ?? place }));
    this.empty = content.note;
    this.change();
  }

  home() {
    const fitted = super.home();
    for (const way of ["x", "y"]) {
      const span = this.scene?.[way].span;
      if (!span) continue;
      const ends = span.map((value) => (this[way].log ? Math.log10(Math.max(value, 1e-300)) : value));
      if (Number.isFinite(ends[0]) && (!this[way].log || span[0] > 0)) fitted[way] = ends;
    }
    return fitted;
  }

  state() {
    return { ...super.state(), name: this.scene?.name ?? "", count: this.layers.length };
  }
}

function layerOf(reported, next) {
  switch (reported.layer) {
    case "curve": {
      const [x, y] = [next(reported.count), next(reported.count)];
      const curve = Object.assign(new CurveLayer(), reported);
      curve.samples.append(y, x);
      curve.shown = reported.count;
      return curve;
    }
    case "points":
      return new PointLayer(reported, next(reported.count), next(reported.count));
    case "bars":
      return new BarLayer(reported, next(reported.count), next(reported.count), reported.based ? next(reported.count) : null);
    case "cells":
      return new CellLayer(reported, next(reported.count));
    case "parallel":
      return new ParallelLayer(reported, next(reported.count));
    default:
      return new LineLayer(reported);
  }
}
