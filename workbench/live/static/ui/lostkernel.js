import { button, element } from "./page.js";

// A page whose kernel was restarted or has ended still shows what was there, and nothing on it does anything any more.

const GONE = new Set(["restarting", "autorestarting", "terminating", "dead"]);
const CONTROLS = "button, input, select, textarea, [tabindex='0']:not(.lm-TabBar-tab, .lm-TabBar)";
const WHOLE = ".wb-workbench, .wb-explorer, .site-lesson";
const [PATIENCE, EVERY] = [1500, 3000]; // ms
const ENDED = "The kernel was restarted or has ended. The page shows its last state, and its controls are off.";
const CUT_OFF = "The connection to the kernel is lost. The page shows its last state; its controls come back with the connection.";
const [ASKING, ENDS] = [new WeakMap(), new WeakMap()]; // by kernel

// Asks the server of a page for its kernel while the connection is lost, once for all status lines of the page: the
// kernel has ended where the server, or the one in its place, does not know it. Jupyter gives up after some minutes.
function askFor(kernel) {
  if (!document.body.dataset.voila || ASKING.has(kernel)) return;
  const { baseUrl = "/" } = kernel.serverSettings ?? {};
  const ask = async () => {
    if (kernel.connectionStatus === "connected" || kernel.isDisposed) {
      stopAsking(kernel);
      return;
    }
    try {
      const { status } = await fetch(`${baseUrl}api/kernels/${kernel.id}`, { cache: "no-store" });
      if (status === 404) {
        stopAsking(kernel);
        for (const end of ENDS.get(kernel) ?? []) end();
      } else if (status === 200 && kernel.connectionStatus === "disconnected") kernel.reconnect();
    } catch {
      // No network yet, or no server.
    }
  };
  ASKING.set(kernel, setInterval(ask, EVERY));
}

function stopAsking(kernel) {
  clearInterval(ASKING.get(kernel));
  ASKING.delete(kernel);
}

// Says so above all that an element stands in, and switches the controls there off; the kernel's models do not come back
// from its end, a connection may. advice() is what to do about it. Returns what ends the watching.
export function watchKernel(model, el, advice) {
  let [over, present] = [false, true];
  const kernel = model.widget_manager?.kernel;
  const show = () => {
    // A kernel that ends takes its connection along, and then nothing comes back.
    const ended = over || (present && el.closest(".jupyter-widgets-disconnected") !== null);
    mark(outermost(el), ended ? `${ENDED} ${advice()}` : present ? "" : CUT_OFF);
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
      if (!present) askFor(kernel);
      show();
    };
    if (status === "connecting") waiting = setTimeout(now, PATIENCE);
    else now();
  };
  // What the widget itself shows is set by another listener of the same change.
  const live = () => queueMicrotask(show);
  if (kernel) ENDS.set(kernel, (ENDS.get(kernel) ?? new Set()).add(end));
  model.on("comm_live_update", live);
  kernel?.statusChanged?.connect(turn);
  kernel?.connectionStatusChanged?.connect(connect);
  kernel?.disposed?.connect(end);
  live();
  return () => {
    clearTimeout(waiting);
    ENDS.get(kernel)?.delete(end);
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
