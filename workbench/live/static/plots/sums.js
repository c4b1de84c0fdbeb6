// What kernels take together.

export function nothing() {
  return { calls: 0, seconds: 0, bytes: 0 };
}

export function sumUp(total, seconds, bytes) {
  total.calls += 1;
  total.seconds += seconds;
  total.bytes += bytes;
}

// Calls, seconds and bytes of each style from one time to another, of the set of lanes that is summed; a call that is cut
// counts by its share.
export function sums(plot, [from, to]) {
  const found = plot.sets[plot.summed].totals.map(nothing);
  for (const lane of plot.lanes.filter(({ group }) => group === plot.summed)) {
    const [first, end] = lane.between(from, to);
    for (let k = first; k < end; k += 1) {
      const whole = lane.end[k] - lane.start[k];
      const seconds = Math.min(to, lane.end[k]) - Math.max(from, lane.start[k]);
      const kernel = plot.kernels[lane.kernel[k]];
      sumUp(found[kernel.style], seconds, whole > 0 ? (kernel.bytes * seconds) / whole : kernel.bytes);
    }
  }
  return found;
}
