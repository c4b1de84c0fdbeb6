// What is not done each time it is asked for.

// Calls something at most once in so many milliseconds, and once more at the end, so that the last state is never lost.

export function atMost(period, act) {
  let last = -Infinity;
  let timer = 0;
  const go = () => {
    clearTimeout(timer);
    [timer, last] = [0, performance.now()];
    act();
  };
  return {
    call() {
      const wait = last + period - performance.now();
      if (wait <= 0) go();
      else timer ||= setTimeout(go, wait);
    },
    now: go,
    cancel: () => clearTimeout(timer),
  };
}

// Calls something only when it is told something else than before: what is put on the page once more is laid out once more,
// and JupyterLab's page is a large one.
export function whenNew(act) {
  let last = "";
  return (...told) => {
    const text = JSON.stringify(told);
    if (text !== last) act(...told);
    last = text;
  };
}
