// Runs the code that draws a canvas in a Web Worker, where a paint does not delay the page (JupyterLab's own part in a
// frame costs more than ours); on the page itself where no worker can be started.

// What a script of a worker must not hold.
const EXPORTED = ["export", "default"].join(" ");

// The script of a worker: that of the widget, which holds its drawing too, so that no text is sent twice.
export function workerSource(model, Drawing) {
  const text = model.get("_script");
  return `${text.slice(0, text.lastIndexOf(EXPORTED))}\ndrawForPage(${Drawing.name});`;
}

// source: the worker's script; Drawing: the class that it would run, for the page; listener: called with the drawing's
// reports. Messages that are posted before the drawing has started are queued.
export function startDrawing(canvas, source, Drawing, listener) {
  const queued = [];
  let deliver = (...mail) => queued.push(mail);
  let worker = null;

  const begin = (post) => {
    deliver = post;
    queued.splice(0).forEach((mail) => deliver(...mail));
  };
  const onPageItself = () => {
    const drawing = new Drawing(listener);
    drawing.handle({ kind: "canvas", canvas });
    begin((message) => drawing.handle(message));
  };
  const inWorker = () => {
    const offscreen = canvas.transferControlToOffscreen();
    worker.postMessage({ kind: "canvas", canvas: offscreen }, [offscreen]);
    begin((message, transfer = []) => worker.postMessage(message, transfer));
  };

  try {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    worker = new Worker(url);
    worker.onmessage = ({ data }) => {
      if (data.kind !== "started") return listener(data);
      URL.revokeObjectURL(url);
      worker.onerror = ({ message }) => console.error("the worker that draws failed:", message);
      return inWorker();
    };
    // Where the page's Content Security Policy forbids workers, the error comes before the worker has started.
    worker.onerror = onPageItself;
  } catch {
    onPageItself();
  }
  return {
    post: (message, transfer) => deliver(message, transfer),
    close: () => worker?.terminate(),
  };
}
