import { firstAbove, doubled } from "./lane.js";

// Where iterations begin.

export class Marks {
  constructor() {
    this.count = 0;
    [this.numbers, this.starts] = [new Int32Array(256), new Float64Array(256)];
  }

  note(iteration, start) {
    const last = this.count - 1;
    if (last < 0 || iteration > this.numbers[last]) {
      if (this.count === this.starts.length) [this.numbers, this.starts] = [doubled(this.numbers), doubled(this.starts)];
      [this.numbers[this.count], this.starts[this.count]] = [iteration, start];
      this.count += 1;
      return;
    }
    // Another lane may have begun the same iteration earlier.
    const place = firstAbove(this.numbers, this.count, iteration, true);
    if (this.numbers[place] === iteration && start < this.starts[place]) this.starts[place] = start;
  }

  // The place of the iteration that is under way at a time; -1 before the first.
  at(time) {
    return firstAbove(this.starts, this.count, time) - 1;
  }

  // The usual length of the iterations that ended last, in seconds: the median, so that a pause does not count.
  typical(place, most = 20) {
    const lengths = [];
    for (let k = Math.max(1, place - most + 1); k <= place; k += 1) lengths.push(this.starts[k] - this.starts[k - 1]);
    return lengths.sort((a, b) => a - b)[lengths.length >> 1] ?? NaN;
  }
}
