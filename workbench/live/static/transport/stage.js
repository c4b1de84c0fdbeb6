import { atMost } from "./throttle.js";

// What every drawing knows of its canvas: its size, its colours, whether anyone sees it. It knows a canvas but no page,
// so that it runs in a worker as well. Subclasses draw in `draw`, tell of it in `state`, and forget in `outdated` what they
// drew before.

const REPORT_MS = 1000;

export class Stage {
  // hear(report) receives the state of what is painted, at most once a second where `report.call` asks for it.
  constructor(hear) {
    this.hear = hear;
    this.hidden = false;
    [this.width, this.height, this.pending] = [0, 0, 0];
    [this.seq, this.paints] = [0, 0];
    // What the picture depends on in addition to its data; as long as it stays, new data are drawn onto what is there.
    this.drawnAs = "";
    this.report = atMost(REPORT_MS, () => this.hidden || this.hear(this.state()));
  }

  handle(message) {
    this[message.kind](message);
  }

  canvas({ canvas }) {
    this.target = canvas;
    // An opaque canvas spares the browser from painting what lies under it.
    this.context = canvas.getContext("2d", { alpha: false });
  }

  outdated() {
    this.drawnAs = "";
  }

  size({ width, height, scale }) {
    [this.width, this.height, this.scale] = [width, height, scale];
    this.outdated();
    this.schedule();
  }

  colours({ colours }) {
    this.palette = colours;
    this.outdated();
    this.schedule();
  }

  // A hidden page is not painted, and reports nothing.
  visibility({ hidden }) {
    this.hidden = hidden;
    this.schedule();
  }

  // Draws once, however much changes at this moment.
  schedule() {
    this.pending ||= setTimeout(() => this.show(), 0);
  }

  // Acts later, and draws at once what that has changed.
  after(milliseconds, act) {
    return setTimeout(() => {
      act();
      if (this.pending) this.show();
    }, milliseconds);
  }

  show() {
    clearTimeout(this.pending);
    this.pending = 0;
    if (!this.hidden && this.context && this.palette) this.draw();
  }

  // An empty canvas, sharp on every screen, with pixels of the page as its unit.
  wipe() {
    const { context, target, scale } = this;
    const [columns, rows] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (target.width !== columns || target.height !== rows) [target.width, target.height] = [columns, rows];
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = this.palette.paper;
    context.fillRect(0, 0, this.width, this.height);
  }
}

// In a worker: what the page says goes to a drawing, and what the drawing reports to the page.
export function drawForPage(Drawing) {
  const drawing = new Drawing((report) => postMessage(report));
  onmessage = ({ data }) => drawing.handle(data);
  postMessage({ kind: "started" });
}
