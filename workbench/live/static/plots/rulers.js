import { grouped, linearTicks, roundUp } from "../kit/axes.js";
import { amount, amountAxis, duration, timeAxis } from "../kit/units.js";

// What convergence may be drawn against. counts: a sample's number is its position. least: the shortest picture. bound:
// a comfortable end of the axis. step: of the arrow keys.

const clockAxis = (what) => (extent, most) => {
  const { ticks, title } = timeAxis(0, extent, most);
  return { ticks, title: `${what} on each run's own clock, ${title.split(", ").at(-1)}` };
};

const measured = (least) => ({
  counts: false,
  least,
  bound: (longest, grows) => (roundUp((longest / least) * 1000, grows) / 1000) * least,
  round: (position) => position,
  step: (extent) => extent / 100,
});

export const RULERS = {
  iterations: {
    counts: true,
    least: 10,
    bound: roundUp,
    round: Math.round,
    step: () => 1,
    axis: (extent, most) => ({ ticks: linearTicks(0, extent, most).map((k) => [k, grouped(k)]), title: "iteration" }),
    say: (k) => `iteration ${grouped(k)}`,
  },
  seconds: { ...measured(1e-4), axis: clockAxis("iteration time"), say: duration },
  total: { ...measured(1e-4), axis: clockAxis("setup and iteration time"), say: duration },
  bytes: {
    ...measured(1e3),
    axis: (extent, most) => {
      const { ticks, title } = amountAxis(extent, most);
      return { ticks, title: `read and written by the iterations, ${title}` };
    },
    say: amount,
  },
};
