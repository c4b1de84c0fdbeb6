import { roundUp } from "../ui/axes.js";

// Which stretch of time is on the canvas: all of it, the last iterations, or where the user has gone ("free").

const FOLLOWED = 5;
const LEAST = 2e-7;
const EDGE = 0.015;

export class Span {
  constructor(live) {
    this.mode = live ? "follow" : "all";
    [this.from, this.to, this.first, this.last] = [0, 1e-3, 0, 0];
    // How many times the usual number of iterations is followed, and the seconds that this takes.
    [this.stretch, this.followed] = [1, 0];
  }

  get width() {
    return this.to - this.from;
  }

  // Takes note of what there is, in seconds, and goes along with the front of it. grows: more may come.
  advance(first, last, front, marks, grows) {
    [this.first, this.last] = [first, last];
    if (this.mode === "follow" && !this.goAlong(marks, front)) this.fit(grows);
    if (this.mode === "all") this.fit(grows);
  }

  all() {
    this.mode = "all";
  }

  follow() {
    [this.mode, this.stretch, this.followed] = ["follow", 1, 0];
  }

  // share: where in the picture, 0 to 1, what is there stays where it is.
  zoom(share, factor) {
    if (this.mode === "follow") {
      const stretch = Math.min(500, Math.max(0.1, this.stretch * factor));
      this.followed *= stretch / this.stretch;
      this.stretch = stretch;
      return;
    }
    // Room that was kept for what is still to come is left at once.
    const whole = this.last - this.first;
    const width = Math.max(LEAST, Math.min(this.width, factor < 1 ? whole : Infinity) * factor);
    if (width >= whole) return this.all();
    return this.place(this.from + share * (this.width - width), width);
  }

  pan(seconds) {
    if (this.mode !== "all") this.place(this.from + seconds, this.width);
  }

  // Shows a width from a time on, as far as there is anything to see.
  place(from, width) {
    const room = EDGE * width;
    this.mode = "free";
    this.from = Math.max(this.first - room, Math.min(from, this.last + room - width));
    this.to = this.from + width;
  }

  fit(grows) {
    const whole = Math.max(LEAST, this.last - this.first);
    this.from = this.first - EDGE * whole;
    // While a run grows the picture has a width that lasts.
    this.to = grows ? this.first + roundUp(1e9 * whole, true) / 1e9 : this.last + EDGE * whole;
  }

  // Begins at the start of an iteration, so that the picture stands still while iterations pass; false before there are
  // enough of them.
  goAlong(marks, front) {
    const latest = marks.at(front);
    const needed = (FOLLOWED * this.stretch + 1) * marks.typical(latest);
    if (!(needed > 0)) return false;
    // Its width changes only when it has to.
    if (needed > this.followed || needed < 0.5 * this.followed) this.followed = 1.25 * needed;
    const begin = marks.starts[Math.max(0, latest - Math.round(FOLLOWED * this.stretch))];
    this.from = Math.max(begin, front - this.followed);
    this.to = this.from + this.followed;
    return true;
  }
}
