import { button, element } from "./page.js";

// A page whose kernel was restarted or has ended still shows what was there, and nothing on it does anything any more.

const GONE = new Set(["restarting", "autorestarting", "terminating", "dead"]);
const CONTROLS = "button, input, select, textarea, [tabindex='0']:not(.lm-TabBar-tab, .lm-TabBar)";
const WHOLE = ".wb-workbench, .wb-explorer, .site-lesson";
const PATIENCE = 1500; // ms
const [BEAT, EVERY, ANSWER] = [10_000, 3000, 5000]; // ms between two questions, while the connection is lost, and until an answer
const ENDED = "The kernel was restarted or has ended. The page shows its last state, and its controls are off.";
const CUT_OFF = "The connection to the kernel is lost. The page shows its last state; its controls come back with the connection.";
const WATCHES = new WeakMap(); // by kernel, for all status lines of the page

// What the status lines of a page have in common: those to call when the kernel has ended, and when the server begins or
// ceases to be silent.
function watchOf(kernel) {
  if (!WATCHES.has(kernel)) {
    WATCHES.set(kernel, { ends: new Set(), changes: new Set(), silent: false, timer: 0 });
    askSoon(kernel, BEAT);
  }
  return WATCHES.get(kernel);
}

function askSoon(kernel, ms) {
  const watch = WATCHES.get(kernel);
  clearTimeout(watch.timer);
  if (document.body.dataset.voila && !kernel.isDisposed) watch.timer = setTimeout(() => ask(kernel), ms);
}

// Asks the server of a page for its kernel, which has ended where the server, or the one in its place, does not know it.
// A websocket does not notice for minutes that a network carries no bytes any more, and Jupyter does not ask again for long.
async function ask(kernel) {
  const watch = WATCHES.get(kernel);
  const { baseUrl = "/" } = kernel.serverSettings ?? {};
  const address = `${baseUrl}api/kernels/${kernel.id}`;
  const asked = fetch(address, { cache: "no-store", signal: AbortSignal.timeout(ANSWER) });
  // No network, or no server.
  const { status } = await asked.catch(() => ({ status: 0 }));
  if (status === 404) {
    for (const end of watch.ends) end();
    return;
  }
  const lost = watch.silent || kernel.connectionStatus === "disconnected";
  if (status === 200 && lost) await connectAgain(kernel);
  const silent = status === 0;
  if (silent !== watch.silent) {
    watch.silent = silent;
    for (const change of watch.changes) change();
  }
  askSoon(kernel, silent || kernel.connectionStatus !== "connected" ? EVERY : BEAT);
}

// A connection that has lasted through a silence may be dead, of which the browser knows nothing.
async function connectAgain(kernel) {
  if (kernel.connectionStatus === "connected") {
    const late = new Promise((done) => setTimeout(done, ANSWER));
    if (await Promise.race([kernel.requestKernelInfo(), late]).catch(() => null)) return;
  }
  await kernel.reconnect().catch(() => null);
}

// Says so above all that an element stands in, and switches the controls there off; the kernel's models do not come back
// from its end, a connection may. advice() is what to do about it. Returns what ends the watching.
export function watchKernel(model, el, advice) {
  let [over, present] = [false, true];
  const kernel = model.widget_manager?.kernel;
  const watch = kernel && watchOf(kernel);
  const show = () => {
    // A kernel that ends takes its connection along, and then nothing comes back.
    const ended = over || (present && el.closest(".jupyter-widgets-disconnected") !== null);
    mark(outermost(el), ended ? `${ENDED} ${advice()}` : present && !watch?.silent ? "" : CUT_OFF);
  };
  const turn = (_kernel, status) => {
    over ||= GONE.has(status);
    show();
  };
  const end = () => turn(null, "dead");
  // JupyterLab reports "connecting" while it tries again, for minutes; a short break is not worth a message.
  let waiting;
  const connect = (_kernel, status) => {
    clearTimeout(waiting);
    const now = () => {
      present = status === "connected";
      if (!present) askSoon(kernel, EVERY);
      show();
    };
    if (status === "connecting") waiting = setTimeout(now, PATIENCE);
    else now();
  };
  // What the widget itself shows is set by another listener of the same change.
  const live = () => queueMicrotask(show);
  watch?.ends.add(end);
  watch?.changes.add(show);
  model.on("comm_live_update", live);
  kernel?.statusChanged?.connect(turn);
  kernel?.connectionStatusChanged?.connect(connect);
  kernel?.disposed?.connect(end);
  live();
  return () => {
    clearTimeout(waiting);
    watch?.ends.delete(end);
    watch?.changes.delete(show);
    model.off("comm_live_update", live);
    kernel?.statusChanged?.disconnect(turn);
    kernel?.connectionStatusChanged?.disconnect(connect);
    kernel?.disposed?.disconnect(end);
  };
}

function outermost(el) {
  let root = el.closest(WHOLE) ?? el;
  for (let above = root; above; above = above.parentElement?.closest(WHOLE)) root = above;
  return root;
}

// Every status line of a page comes here; the first one changes it.
function mark(root, words) {
  if ((root.dataset.lost ?? "") === words) return;
  root.querySelector(":scope > .wb-gone")?.remove();
  root.classList.toggle("wb-lost", Boolean(words));
  // What is above a lesson needs no kernel.
  for (const control of root.querySelectorAll(CONTROLS)) control.inert = Boolean(words) && !control.closest(".site-head");
  if (!words) {
    delete root.dataset.lost;
    return;
  }
  root.dataset.lost = words;
  const message = element("div", "wb-status wb-bad wb-gone", words);
  message.setAttribute("role", "alert");
  // In a notebook the cell is run again.
  if (document.body.dataset.voila && !words.startsWith(CUT_OFF)) message.append(button("wb-btn", "Reload", () => location.reload(), "load this page again"));
  root.prepend(message);
}
