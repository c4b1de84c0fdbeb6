// What a ray may skip: the least and greatest byte of each block of a volume.

export const BLOCKS = 16;

// Writes them for BLOCKS^3 blocks of the cube into `made`, four bytes a block, the two from the byte `first` on. A block
// takes in the cells around it, since between two cells a place has a value between theirs.
export function writeRanges(made, first, bytes, size, reach) {
  let [least, most] = [bytes, bytes];
  const shape = [...size];
  for (const axis of [0, 1, 2]) {
    const spans = spansOf(size[axis], reach[axis]);
    [least, most] = [folded(least, shape, axis, spans, Math.min), folded(most, shape, axis, spans, Math.max)];
    shape[axis] = BLOCKS;
  }
  for (let block = 0; block < least.length; block += 1) {
    made[4 * block + first] = least[block];
    made[4 * block + first + 1] = most[block];
  }
}

// First and last cell of each block along a side.
function spansOf(cells, reach) {
  return Array.from({ length: BLOCKS }, (_, block) => [
    Math.max(0, Math.floor((block / BLOCKS) * cells * reach - 0.5)),
    Math.min(cells - 1, Math.ceil(((block + 1) / BLOCKS) * cells * reach - 0.5)),
  ]);
}

// The volume with the cells along one axis taken together block by block.
function folded(bytes, shape, axis, spans, take) {
  const inner = shape.slice(0, axis).reduce((product, cells) => product * cells, 1);
  const outer = shape.slice(axis + 1).reduce((product, cells) => product * cells, 1);
  const made = new Uint8Array(inner * BLOCKS * outer);
  let at = 0;
  for (let high = 0; high < outer; high += 1) {
    const start = high * shape[axis];
    for (const [from, to] of spans) {
      for (let low = 0; low < inner; low += 1) {
        let found = bytes[(start + from) * inner + low];
        for (let k = from + 1; k <= to; k += 1) found = take(found, bytes[(start + k) * inner + low]);
        made[at] = found;
        at += 1;
      }
    }
  }
  return made;
}
