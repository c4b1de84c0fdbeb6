// Runs a drawing in a worker, where a paint does not disturb the page (JupyterLab is a large one: its own part in a frame
// costs more than ours); where there is no worker to be had, on the page itself.

// source: the worker's script; Drawing: the same for the page; hear takes the drawing's reports.
export function startDrawing(canvas, source, Drawing, hear) {
  const waiting = [];
  let deliver = (...mail) => waiting.push(mail);
  let worker = null;

  const begin = (post) => {
    deliver = post;
    waiting.splice(0).forEach((mail) => deliver(...mail));
  };
  const onPageItself = () => {
    const drawing = new Drawing(hear);
    drawing.handle({ kind: "canvas", canvas });
    begin((message) => drawing.handle(message));
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
      worker.onerror = ({ message }) => console.error("the worker that draws failed:", message);
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
