import { Plot } from "./plot.js";

// Runs the plot in a worker, where a paint does not disturb the page (JupyterLab is a large one: its own part in a frame
// costs more than ours); where there is no worker to be had, on the page itself.

export function startPlot(canvas, source, hear) {
  const waiting = [];
  let deliver = (...mail) => waiting.push(mail);
  let worker = null;

  const begin = (post) => {
    deliver = post;
    waiting.splice(0).forEach((mail) => deliver(...mail));
  };
  const onPageItself = () => {
    const plot = new Plot(hear);
    plot.handle({ kind: "canvas", canvas });
    begin((message) => plot.handle(message));
  };
  const inWorker = () => {
    const stage = canvas.transferControlToOffscreen();
    worker.postMessage({ kind: "canvas", canvas: stage }, [stage]);
    begin((message, transfer = []) => worker.postMessage(message, transfer));
  };

  try {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.onmessage = ({ data }) => {
      if (data.kind !== "started") return hear(data);
      URL.revokeObjectURL(url);
      worker.onerror = ({ message }) => console.error("the plot's worker failed:", message);
      return inWorker();
    };
    // A page whose rules forbid workers says so before the worker has started.
    worker.onerror = onPageItself;
  } catch {
    onPageItself();
  }
  return {
    post: (message, transfer) => deliver(message, transfer),
    close: () => worker?.terminate(),
  };
}
