"""Measurements in a page of JupyterLab: paints per second, times of draws, time from a click to the visible state."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.live_view import rounds as kernel
from benchmarks.live_view.chromium import Chromium

LIMIT_SECONDS = 900
"""Longest time for the rounds of one call."""
GESTURE_SECONDS = 6
PAINTING_SECONDS = 3
"""Seconds of a run in which paints are counted."""
PRESS_MS = 60
"""Milliseconds for which a button is held down. JupyterLab moves its focus at the press; without time between press
and release that work would delay the click."""
CURVES = ".wb-convergence canvas.wb-canvas"
FIELD = ".wb-field canvas.wb-canvas"
LANES = ".wb-timeline canvas.wb-canvas"
RUNNING = "() => document.querySelector('.wb-explorer [role=status]').dataset.state === 'running'"
# A click into an output makes its cell the active one.
RUN_CELL = """at => {
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = at;
  window.jupyterapp.commands.execute("notebook:run-cell");
}"""
SET_CELL = "([at, text]) => window.jupyterapp.shell.currentWidget.content.widgets[at].model.sharedModel.setSource(text)"
CELLS = (
    "from benchmarks.live_view import rounds\nexplorer = rounds.explorer({device!r})\nexplorer",
    "rounds.begin(explorer, {count}, 'rounds.json', {browser})",
    "timeline = rounds.timeline()\ntimeline",
    "curves = rounds.many_curves()\ncurves",
)
# The views start their workers from source text in a Blob. This subclass of Blob appends lines that record when each
# draw began and how long it took.
NOTE_DRAWS = """
const Whole = window.Blob;
const NOTES = `;(() => {
  const Drawing = typeof TimelinePlot === "undefined" ? Plot : TimelinePlot;
  const draws = [];
  const draw = Drawing.prototype.draw;
  Drawing.prototype.draw = function () {
    const begun = performance.now();
    draw.call(this);
    draws.push([performance.timeOrigin + begun, performance.now() - begun]);
  };
  const channel = new BroadcastChannel("draws");
  channel.onmessage = ({ data }) => data === Drawing.name && channel.postMessage(draws.splice(0));
})();`;
window.Blob = class extends Whole {
  constructor(parts = [], options = {}) {
    const draws = parts.some((part) => typeof part === "string" && /class (Timeline)?Plot extends/.test(part));
    super(draws ? [...parts, NOTES] : parts, options);
  }
};
// The draws of all workers of one class, there may be several, since the last call.
window.drawsOf = (name) => new Promise((done) => {
  const channel = new BroadcastChannel("draws");
  const all = [];
  channel.onmessage = ({ data }) => { if (Array.isArray(data)) all.push(...data); };
  channel.postMessage(name);
  setTimeout(() => { channel.close(); done(all.sort((a, b) => a[0] - b[0])); }, 500);
});
"""
# A canvas counts the frames in which it drew something new. Records each count with its time, in s.
NOTE_PAINTS = """at => {
  const canvas = document.querySelector(at);
  const seen = (window.paints = []);
  window.paintsSeen?.disconnect();
  window.paintsSeen = new MutationObserver(() => seen.push([Date.now() / 1000, Number(canvas.dataset.paints)]));
  window.paintsSeen.observe(canvas, { attributes: true, attributeFilter: ["data-paints"] });
}"""
# Times from the click itself to the status line's new state, and to the end of the frame that shows it, in ms.
NOTE_ANSWERS = """() => {
  window.answers = [];
  const status = document.querySelector(".wb-explorer [role=status]");
  let pressed = null;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    // Its text has the key that presses it too.
    const name = button?.ariaLabel || button?.textContent.trim();
    if (button) pressed = { name, at: event.timeStamp, from: status.dataset.state };
  }, true);
  new MutationObserver(() => {
    if (!pressed || status.dataset.state === pressed.from) return;
    const { name, at, from } = pressed;
    const [heard, to] = [performance.now(), status.dataset.state];
    // Stop changes the state twice: to "stopping" at once, and to the final state when the run has ended.
    pressed = to === "stopping" ? { name, at, from: to } : null;
    requestAnimationFrame(() => {
      // A message is handled right after the frame; a timer would wait for other work.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        window.answers.push({ name, from, to, heard_ms: heard - at, painted_ms: performance.now() - at });
      };
      port2.postMessage(null);
    });
  }).observe(status, { attributes: true, attributeFilter: ["data-state"] });
}"""
ANSWERED = "seen => window.answers.length > seen && window.answers.at(-1).to !== 'stopping'"
# The wheel zooms lanes and plots that have the focus.
SHOW_WITH_FOCUS = "canvas => { canvas.scrollIntoView({ block: 'center' }); canvas.focus(); }"
# At the frame rate of the page: zoom in and out by the wheel, then pan by dragging. Returns the time of each event.
GESTURES = """([at, seconds]) => new Promise((done) => {
  const canvas = document.querySelector(at);
  const box = canvas.getBoundingClientRect();
  const asked = { zoom: [], pan: [] };
  const place = { bubbles: true, cancelable: true, clientY: box.top + 60, button: 0, pointerId: 1 };
  const begun = performance.now();
  canvas.setPointerCapture = () => {};
  let [frames, held] = [0, false];
  const frame = () => {
    const past = (performance.now() - begun) / 1000;
    if (past >= seconds) {
      canvas.dispatchEvent(new PointerEvent("pointerup", place));
      delete canvas.setPointerCapture;
      done(asked);
      return;
    }
    const clientX = box.left + box.width / 2;
    frames += 1;
    const kind = past < seconds / 2 ? "zoom" : "pan";
    asked[kind].push(performance.timeOrigin + performance.now());
    if (kind === "zoom") {
      const deltaY = Math.floor(frames / 40) % 2 ? 120 : -120;
      canvas.dispatchEvent(new WheelEvent("wheel", { ...place, clientX, deltaY }));
    } else {
      if (!held) canvas.dispatchEvent(new PointerEvent("pointerdown", { ...place, clientX }));
      held = true;
      const away = 150 * Math.sin(frames / 10);
      canvas.dispatchEvent(new PointerEvent("pointermove", { ...place, clientX: clientX + away }));
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


class Page:
    """JupyterLab with the notebook of the benchmark, from a fresh page to its end; its kernel stays."""

    def __init__(self, lab: Any, browser: Chromium, url: str, home: Path) -> None:
        self._lab, self._browser, self._url, self._home = lab, browser, url, home
        self.page.add_init_script(NOTE_DRAWS)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.renew()

    @property
    def page(self) -> Any:
        """The page, a new object after each detachment."""
        return self._browser.page

    def open_explorer(self, device: str = "cpu") -> None:
        """Display the explorer, its solver on that device."""
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        begin, *others = CELLS
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (begin.format(device=device), *others)]
        nbformat.write(notebook, self._home / "live_view.ipynb")
        self._lab.open_notebook(self.page, self._url, "live_view.ipynb")
        self.page.evaluate(RUN_CELL, 0)
        self.page.wait_for_selector(CURVES, timeout=60_000)
        self.page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")
        self.page.wait_for_function("() => document.querySelector('.wb-explorer [role=status]')?.textContent")

    def clicks(self, count: int) -> list[dict[str, Any]]:
        """Click Run, Pause, Resume and Stop so many times: for each click the milliseconds until its state was
        visible. Stop can have two, first for the state "stopping" and then for the end."""
        self.page.evaluate(NOTE_ANSWERS)
        # The first run compiles.
        for name in ["Run", "Stop"] + count * ["Run", "Pause", "Resume", "Stop"]:
            seen = self.page.evaluate("() => window.answers.length")
            self._lab.button(self.page, name).click(timeout=60_000, delay=PRESS_MS)
            self.page.wait_for_function(ANSWERED, arg=seen, timeout=60_000)
            # Varied, so that clicks fall on different phases of all periodic work.
            self.page.wait_for_timeout(300 + 37 * (seen % 7))
        self._lab.button(self.page, "Clear").click()
        found = [answer for answer in self.page.evaluate("() => window.answers") if answer["name"] != "Clear"]
        first = next(k for k, answer in enumerate(found) if answer["to"] == "done") + 1
        return found[first:]

    def curves(self, count: int) -> list[float]:
        """Paints per second of the curves, in so many runs."""
        return self._paints(CURVES, count)

    def field(self, count: int) -> list[float]:
        """Paints per second of the residual's picture, in so many runs."""
        self.show("residual")
        rates = self._paints(FIELD, count)
        self.show("coefficient")
        return rates

    def show(self, quantity: str) -> None:
        """Choose what the field shows; the coefficient is painted once, the others during the run."""
        # JupyterLab takes cells that are far from the active one off the page.
        self.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }")
        self.page.wait_for_selector(FIELD)
        self.page.locator(".wb-explorer .wb-field select").first.select_option(quantity)

    def rounds(self, count: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
        """The rounds, each with and without the page showing the run, as timed by the kernel (see `rounds.made`), and
        the milliseconds of the draws of the curves during them."""
        self.page.evaluate("() => window.drawsOf('Plot')")
        file = self._home / "rounds.json"
        file.unlink(missing_ok=True)
        self.page.evaluate(SET_CELL, [1, CELLS[1].format(count=count, browser=self._browser.pid)])
        self.page.evaluate(RUN_CELL, 1)
        self.page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")
        end = time.monotonic() + LIMIT_SECONDS
        with self._browser.let_go():
            while not file.exists():
                if time.monotonic() > end:
                    raise TimeoutError(f"the kernel made no {count} rounds in {LIMIT_SECONDS} s")
                time.sleep(0.5)
        spent = sorted(ms for _, ms in self.page.evaluate("() => window.drawsOf('Plot')"))
        return kernel.read(file), {"count": len(spent), **spread(spent)}

    def timeline(self) -> dict[str, Any]:
        """Zoom and pan over all events: time of a draw, draws per second, and time from wheel or pointer event to
        the picture."""
        self.page.evaluate(RUN_CELL, 2)
        enough = "([at, count]) => Number([...document.querySelectorAll(at)].at(-1)?.dataset.count) >= count"
        self.page.wait_for_function(enough, arg=[LANES, kernel.EVENTS], timeout=120_000)
        # The explorer has a timeline too, on a hidden tab.
        self.page.evaluate("at => { [...document.querySelectorAll(at)].at(-1).id = 'lanes'; }", LANES)
        self.page.eval_on_selector("#lanes", SHOW_WITH_FOCUS)
        self.page.wait_for_timeout(1000)
        self.page.evaluate("() => window.drawsOf('TimelinePlot')")
        asked = self.page.evaluate(GESTURES, ["#lanes", GESTURE_SECONDS])
        self.page.wait_for_timeout(500)
        draws = self.page.evaluate("() => window.drawsOf('TimelinePlot')")
        count = int(self.page.eval_on_selector("#lanes", "canvas => canvas.dataset.count"))
        return {"events": count, **{kind: _gesture(times, draws) for kind, times in asked.items()}}

    def plot(self) -> dict[str, Any]:
        """Zoom of a plot at rest with many curves, then a selection dragged over it, as in `timeline`."""
        self.page.evaluate(RUN_CELL, 3)
        enough = "([at, curves]) => [...document.querySelectorAll(at)].at(-1)?.dataset.curves === String(curves)"
        self.page.wait_for_function(enough, arg=[CURVES, kernel.MANY_CURVES], timeout=120_000)
        self.page.evaluate("at => { [...document.querySelectorAll(at)].at(-1).id = 'many'; }", CURVES)
        self.page.eval_on_selector("#many", SHOW_WITH_FOCUS)
        self.page.wait_for_timeout(1000)
        self.page.evaluate("() => window.drawsOf('Plot')")
        asked = self.page.evaluate(GESTURES, ["#many", GESTURE_SECONDS])
        self.page.wait_for_timeout(500)
        draws = self.page.evaluate("() => window.drawsOf('Plot')")
        size = {"curves": kernel.MANY_CURVES, "samples": kernel.SAMPLES}
        return {**size, "zoom": _gesture(asked["zoom"], draws), "select": _gesture(asked["pan"], draws)}

    def _paints(self, canvas: str, count: int) -> list[float]:
        """Frames per second in which a canvas drew something new, in so many runs."""
        self.page.evaluate(NOTE_PAINTS, canvas)
        rates = []
        for _ in range(count):
            self._lab.button(self.page, "Run").click()
            self.page.wait_for_function(RUNNING, timeout=60_000)
            self.page.wait_for_timeout(500)
            self.page.evaluate("() => window.paints.splice(0)")
            self.page.wait_for_timeout(1000 * PAINTING_SECONDS)
            seen = self.page.evaluate("() => window.paints")
            self._lab.button(self.page, "Stop").click()
            self.page.wait_for_function(f"() => !({RUNNING})()", timeout=60_000)
            if len(seen) > 1:
                rates.append((seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0]))
        self._lab.button(self.page, "Clear").click()
        return rates


def _gesture(asked: list[float], draws: list[tuple[float, float]]) -> dict[str, Any]:
    """Times in ms, from those of the events (`asked`) and the begin and duration of each draw. An event waits for the
    end of the first draw that begins after it, if there is one."""
    if not asked:
        return {"asked": 0}
    own = [(begun, ms) for begun, ms in draws if asked[0] <= begun <= asked[-1] + 200]
    ends = [begun + ms for begun, ms in own]
    waits = [next((end - at for end, (begun, _) in zip(ends, own, strict=True) if begun >= at), None) for at in asked]
    apart = [later - earlier for earlier, later in itertools.pairwise(ends)]
    return {
        "asked": len(asked),
        "draws": len(own),
        "draws_per_second": len(own) / (asked[-1] - asked[0]) * 1000,
        "draw_ms": spread([ms for _, ms in own]),
        "unanswered": waits.count(None),
        "asked_to_drawn_ms": spread([wait for wait in waits if wait is not None]),
        "between_draws_ms": spread(apart),
    }


def spread(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and largest; empty where there is none."""
    if not values:
        return {}
    ordered = sorted(values)
    return {
        "median": ordered[len(ordered) // 2],
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "most": ordered[-1],
    }
