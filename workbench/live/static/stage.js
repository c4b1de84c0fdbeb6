// What every drawing is told about its canvas: its size, its colours, whether anyone sees it. It knows a canvas but no page,
// so that it runs in a worker as well. Subclasses draw in `draw`, and forget in `outdated` what they drew before.

export class Stage {
  constructor() {
    this.hidden = false;
    [this.width, this.height, this.pending] = [0, 0, 0];
  }

  handle(message) {
    this[message.kind](message);
  }

  canvas({ canvas }) {
    this.target = canvas;
    // An opaque canvas spares the browser from painting what lies under it.
    this.context = canvas.getContext("2d", { alpha: false });
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

  // A page that nobody sees is not painted, and reports nothing.
  visibility({ hidden }) {
    this.hidden = hidden;
    this.schedule();
  }

  schedule() {
    this.pending ||= setTimeout(() => {
      this.pending = 0;
      if (!this.hidden && this.context && this.palette) this.draw();
    }, 0);
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
