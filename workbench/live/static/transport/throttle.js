// What is not done each time it is asked for.

// Milliseconds before its time at which a timer may come, and its act counts as done in time.
const EARLY = 5;

// Calls something at most once between two multiples of so many milliseconds on the clock, so that all who keep one period
// act together; and once more at the end, so that the last state is never lost.
export function atMost(period, act) {
  let next = 0;
  let timer = 0;
  const go = () => {
    clearTimeout(timer);
    [timer, next] = [0, following(period)];
    act();
  };
  return {
    call() {
      const wait = next - clock();
      if (wait <= 0) go();
      else timer ||= setTimeout(go, wait);
    },
    now: go,
    cancel() {
      clearTimeout(timer);
      timer = 0;
    },
  };
}

// Says whether a multiple of so many milliseconds on the clock has passed since it last said so.
export function turns(period) {
  let next = 0;
  return () => {
    if (clock() + EARLY < next) return false;
    next = following(period);
    return true;
  };
}

// The same for a page and its workers.
function clock() {
  return performance.timeOrigin + performance.now();
}

function following(period) {
  return (Math.floor((clock() + EARLY) / period) + 1) * period;
}

// Calls something only with other arguments than before: what is put on the page once more is laid out once more,
// and JupyterLab's page is a large one.
export function whenNew(act) {
  let last = "";
  return (...reported) => {
    const text = JSON.stringify(reported);
    if (text !== last) act(...reported);
    last = text;
  };
}
