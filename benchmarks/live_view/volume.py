"""The 3D view of a run at 128^3: pictures per second where the cores draw them, CPU time, and the cost to a solve.

    python -m benchmarks volume_view [--quick] [--output FOLDER]

The browser has no GPU here: SwiftShader draws on the cores that also solve. Other load lowers the pictures per second,
but not the CPU time per picture. The slowdown is measured as in the rest of the benchmark, with the page
on the same cores and with a client elsewhere that receives the pictures and paints nothing.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.live_view import rounds
from benchmarks.live_view.chromium import Chromium, chromium
from benchmarks.live_view.lab import lab_tools
from benchmarks.live_view.page import LIMIT_SECONDS, NOTE_PAINTS, RUN_CELL, SET_CELL
from benchmarks.live_view.processes import more, on_cores
from benchmarks.live_view.remote import rounds_elsewhere
from benchmarks.live_view.report import costs
from workbench.live import VolumeView
from workbench.live.transport.publisher import Publisher
from workbench.run import Session, Stopping, configure

N = 128
"""Cells per side."""
SECONDS, QUICK_SECONDS = 12, 4
ROUNDS, QUICK_ROUNDS = 24, 2
CUBE = ".wb-cube canvas[tabindex]"
CELLS = (
    "from benchmarks.live_view import rounds\nfrom benchmarks.live_view.volume import Watched\nwatched = Watched()\n"
    "watched.view",
    "watched.run()",
    "watched.stop()",
)
READ = "at => ({...document.querySelector(at).dataset})"
# Turns the cube by a drag of so many seconds, a step per frame, and returns the pictures that were drawn meanwhile.
TURN = """([at, seconds]) => new Promise((done) => {
  const canvas = document.querySelector(at);
  const place = { bubbles: true, button: 0, pointerId: 1, clientY: 300 };
  const count = () => Number(canvas.dataset.paints);
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent("pointerdown", { ...place, clientX: 400 }));
  const [begun, first] = [performance.now(), count()];
  const step = () => {
    const past = performance.now() - begun;
    canvas.dispatchEvent(new PointerEvent("pointermove", { ...place, clientX: 400 + past * 0.05 }));
    if (past < 1000 * seconds) requestAnimationFrame(step);
    else {
      canvas.dispatchEvent(new PointerEvent("pointerup", place));
      delete canvas.setPointerCapture;
      done([count() - first, past / 1000]);
    }
  };
  requestAnimationFrame(step);
})"""


class Watched:
    """Endless runs at 128^3, watched by a 3D view; lives in the kernel."""

    def __init__(self) -> None:
        self.publisher = Publisher()
        self.view = VolumeView(self.publisher, quantity="residual", level=0.7)
        self.session: Session | None = None

    def run(self) -> Session:
        """Start a run and follow it."""
        stopping = Stopping(rtol=1e-300, maxiter=10**6, stagnation=10**9)
        choices = {"preconditioner": "jacobi", "deflation": "none", "sides": "z-:dirichlet"}
        self.session = session = Session(configure("bubbles-3d", n=N, stopping=stopping, **choices))
        self.view.follow(session)
        session.start()
        return session

    def stop(self) -> None:
        """End the run."""
        if self.session:
            self.session.stop()

    def clear(self) -> None:
        """Nothing of the last run is kept."""


def measured(*, quick: bool = False) -> dict[str, Any]:
    """Pictures per second, live and while the cube turns; CPU time; rounds with and without the view."""
    seconds, count = (QUICK_SECONDS, QUICK_ROUNDS) if quick else (SECONDS, ROUNDS)
    lab = lab_tools()
    with tempfile.TemporaryDirectory() as made, lab.lab_server(Path(made)) as url:
        home = Path(made) / "notebooks"
        with chromium(lab, Path(made), lab.WEBGL_ARGS) as browser:
            _open(lab, browser, url, home)
            live = _live(browser, seconds)
            turning = _turning(browser, seconds)
            same = _rounds(browser, home, count)
            browser.page.goto("about:blank")
        elsewhere = rounds_elsewhere(url, home, count, "watched", "[watched.view.model_id]", "watched.view.rate = 10")
    return {
        "problem": f"bubbles-3d n={N}, cg + jacobi, residual",
        "live": live,
        "turning": turning,
        "slowdown": {"same cores": costs(same), "page elsewhere": costs(elsewhere["rounds"])},
        "client_elsewhere": elsewhere["client"],
    }


def _open(lab: Any, browser: Chromium, url: str, home: Path) -> None:
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in (*CELLS, "")]
    nbformat.write(notebook, home / "volume.ipynb")
    lab.open_notebook(browser.page, url, "volume.ipynb")
    browser.page.evaluate(RUN_CELL, 0)
    browser.page.wait_for_selector(CUBE, timeout=60_000)
    browser.page.eval_on_selector(CUBE, "canvas => canvas.scrollIntoView()")


def _live(browser: Chromium, seconds: float) -> dict[str, Any]:
    """Pictures of an active run per second, and milliseconds of the cores that the browser takes for each."""
    page = browser.page
    page.evaluate(RUN_CELL, 1)
    page.wait_for_function(f"at => Number(({READ})(at).iteration) > 5", arg=CUBE, timeout=180_000)
    page.wait_for_timeout(3000)
    # The canvas reports the count of its pictures once a second.
    page.evaluate(NOTE_PAINTS, CUBE)
    spent = on_cores(browser.pid)
    page.wait_for_timeout(1000 * seconds)
    used = more(spent, on_cores(browser.pid))
    (begun, first), *_, (end, last) = page.evaluate("() => window.paints")
    painted = (last - first) * seconds / (end - begun)
    told = page.evaluate(READ, CUBE)
    page.evaluate(RUN_CELL, 2)
    return {
        "pictures_per_second": painted / seconds,
        "browser_cpu_ms_per_picture": None if used is None else 1000 * used / max(painted, 1),
        "quality": float(told["quality"]),
    }


def _turning(browser: Chromium, seconds: float) -> dict[str, Any]:
    """The same while the cube turns by a drag, with all 128^3 cells and no solver at work."""
    page = browser.page
    page.wait_for_function(f"at => ({READ})(at).cells === '{N} {N} {N}'", arg=CUBE, timeout=60_000)
    page.wait_for_timeout(4000)
    spent = on_cores(browser.pid)
    painted, passed = page.evaluate(TURN, [CUBE, seconds])
    used = more(spent, on_cores(browser.pid))
    return {
        "pictures_per_second": painted / passed,
        "browser_cpu_ms_per_picture": None if used is None else 1000 * used / max(painted, 1),
        "quality": float(page.evaluate(READ, CUBE)["quality"]),
    }


def _rounds(browser: Chromium, home: Path, count: int) -> list[dict[str, Any]]:
    file = home / "volume.json"
    code = f"rounds.begin(watched, {count}, {file.name!r}, {browser.pid})"
    browser.page.evaluate(SET_CELL, [3, code])
    browser.page.evaluate(RUN_CELL, 3)
    browser.page.eval_on_selector(CUBE, "canvas => canvas.scrollIntoView()")
    end = time.monotonic() + LIMIT_SECONDS
    with browser.let_go():
        while not file.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"the kernel made no {count} rounds in {LIMIT_SECONDS} s")
            time.sleep(0.5)
    return rounds.read(file)
