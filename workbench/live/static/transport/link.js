import { ANSWER_MS, tellKernel } from "./kernel.js";
import { turns } from "./throttle.js";

// The browser's end of the wire: asks for everything with `ready`, acknowledges what it has painted.

const PATIENCE = 2000;
const LONGEST = 30000;
// JupyterLab redraws its toolbar and fetches an icon for every message that the kernel handles, which costs more than our
// own drawing; so paints are acknowledged many at once, and by all views of a page together.
const AT_ONCE = 36;
// What `apply` returns for a message that follows something it has missed. What was asked may be lost: JupyterLab sends it
// to a part of the kernel that may have ended, and a kernel that had another page continues from what that one has seen.
export const MISSED = "missed";

// apply(content, buffer) takes one message and returns whether more is to be expected, or MISSED, and all is requested again;
// it may throw. What it took counts as seen once `painted` is called, a broken message at once. isShown() tells whether the
// view can be seen: one that cannot, say behind another tab, is sent nothing and waits for nothing.
export function link(model, apply, isShown = () => true) {
  let [done, acknowledged] = [0, 0];
  const isTurn = turns(ANSWER_MS);
  // The first answer above all: what is asked while JupyterLab still opens the page may never reach the kernel.
  let expecting = true;
  let heard = performance.now();
  let asked = heard;
  let patience = PATIENCE;

  const say = (message) => tellKernel(model, message);
  const ask = () => {
    asked = performance.now();
    say({ kind: "ready" });
  };
  const receive = (content, buffers) => {
    heard = performance.now();
    patience = PATIENCE;
    try {
      expecting = apply(content, buffers?.[0]);
      // Not for each message that comes before the answer.
      if (expecting === MISSED && heard - asked >= PATIENCE) ask();
    } catch (error) {
      // A view that keeps its credits to itself would be sent nothing ever after.
      painted(content.seq);
      throw error;
    }
  };
  const painted = (seq) => {
    if (seq <= done) return;
    done = seq;
    if (!isTurn() && done - acknowledged < AT_ONCE) return;
    acknowledged = done;
    say({ kind: "ack", seq: done });
  };
  // A message may be lost with its connection; whoever waits in vain asks again, ever less often.
  const watch = setInterval(() => {
    if (!expecting || document.hidden || !isShown() || performance.now() - heard < patience) return;
    patience = Math.min(2 * patience, LONGEST);
    ask();
  }, PATIENCE / 2);

  model.on("msg:custom", receive);
  ask();
  return {
    say,
    // Called after painting what came with that number; a page that is not painted says nothing and so is sent nothing.
    painted,
    close() {
      clearInterval(watch);
      model.off("msg:custom", receive);
    },
  };
}

// Buffers arrive as views into larger ones, not always aligned.
export function copied(buffer, Type) {
  if (!buffer) return new Type(0);
  const bytes = buffer.buffer ?? buffer;
  const first = buffer.byteOffset ?? 0;
  return new Type(bytes.slice(first, first + buffer.byteLength));
}
