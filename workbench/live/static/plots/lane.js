// The events of one lane, sorted by their start. They never overlap, so their ends are sorted as well.

// The first of so many sorted values that is above a bound, or at it with `orAt`.
export function firstAbove(values, count, bound, orAt = false) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > bound || (orAt && values[middle] === bound)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A typed array of the same kind with room for twice as much.
export function doubled(values) {
  const larger = new values.constructor(2 * values.length);
  larger.set(values);
  return larger;
}

// The place of a new row in a table of so many rows, whose columns are typed arrays sorted by its start.
export function inserted(table, columns, start) {
  if (table.count === table.start.length) for (const name of columns) table[name] = doubled(table[name]);
  // Devices with queues may report an event after its successor.
  let place = table.count;
  for (; place > 0 && table.start[place - 1] > start; place -= 1) {
    for (const name of columns) table[name][place] = table[name][place - 1];
  }
  table.start[place] = start;
  table.count += 1;
  return place;
}

const COLUMNS = ["start", "end", "kernel", "iteration"];

export class Lane {
  // group: the set of lanes, from 0.
  constructor(name, order, group) {
    [this.name, this.order, this.group, this.count] = [name, order, group, 0];
    // Seconds in double precision: a microsecond after an hour is still one.
    [this.start, this.end] = [new Float64Array(1024), new Float64Array(1024)];
    [this.kernel, this.iteration] = [new Int32Array(1024), new Int32Array(1024)];
  }

  add(start, end, kernel, iteration) {
    const place = inserted(this, COLUMNS, start);
    [this.end[place], this.kernel[place], this.iteration[place]] = [end, kernel, iteration];
  }

  // Places of the events that can be seen from one time to another.
  between(from, to) {
    return [firstAbove(this.end, this.count, from), firstAbove(this.start, this.count, to, true)];
  }

  // The longest event within some seconds of a time, and how many more there are; null where there is none.
  near(time, within) {
    const [first, last] = this.between(time - within, time + within);
    if (first >= last) return null;
    let best = first;
    for (let place = first; place < Math.min(last, first + 5000); place += 1) {
      if (this.start[place] <= time && time < this.end[place] && this.end[place] - this.start[place] > within) {
        return { place, others: 0 };
      }
      if (this.end[place] - this.start[place] > this.end[best] - this.start[best]) best = place;
    }
    return { place: best, others: last - first - 1 };
  }
}
