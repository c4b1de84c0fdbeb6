import { copied } from "../transport/link.js";

// What the kernel sends to the 3D view, taken apart: what stays as it is, and pictures, of an active run several at once.

// still(reported) and picture(reported) are called with each in its time; a picture comes with its `bytes`.
export function volumeFeed(still, picture) {
  let [waiting, next] = [[], 0];

  function turnOver(each) {
    const shown = waiting.shift();
    if (waiting.length) next = setTimeout(() => turnOver(each), each);
    picture(shown);
  }

  return {
    take(content, buffer) {
      const bytes = copied(buffer, Uint8Array);
      if (content.part === "still") {
        still(parts(content, bytes));
        return;
      }
      clearTimeout(next);
      let used = 0;
      const own = (length) => bytes.subarray(used, (used += length));
      const before = content.before.map((reported) => ({ ...reported, bytes: own(reported.bytes) }));
      waiting = [...before, { ...content, bytes: own(bytes.length - used) }];
      turnOver(content.milliseconds / waiting.length);
    },
    close: () => clearTimeout(next),
  };
}

// The boxes of the pieces, seven numbers each, their labels, and the surfaces of the phases.
function parts(content, bytes) {
  const boxes = 28 * content.pieces;
  const labels = boxes + 2 * content.labelled.reduce((product, cells) => product * cells, 1);
  return {
    ...content,
    boxes: new Float32Array(bytes.slice(0, boxes).buffer),
    labels: new Uint16Array(bytes.slice(boxes, labels).buffer),
    surfaces: bytes.subarray(labels),
  };
}
