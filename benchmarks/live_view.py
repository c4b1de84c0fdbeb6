"""What the live view costs a solve, and how often it paints, measured in a real JupyterLab in headless Chromium.

    python -m benchmarks live_view [--output FOLDER]

A thread in the kernel makes the same number of iterations with the explorer watching and without, in turns; the page
stays open throughout. Seconds are wall-clock from first to last iteration; the slowdown is the median over rounds.
Where other work disturbs the rounds, the fastest run of each kind tells more. The page notes when it paints.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat

from benchmarks.common import median_ratio

N = 1024
ITERATIONS = 2000
ROUNDS = 11
LIMIT_SECONDS = 600

# Runs in the kernel. A thread of its own leaves the kernel free to hear what the page has painted.
EXPLORER = f"""
import json, os, threading, time
from workbench.live import explore
from workbench.run import Session, Stopping
limit = Stopping(rtol=1e-300, maxiter={ITERATIONS}, stagnation=10**9)
explorer = explore("two-layer", n={N}, preconditioner="jacobi", deflation="none", stopping=limit)
explorer
"""
RACE = f"""
def timed(session):
    while session.run is None: time.sleep(0.001)
    begun = time.time(); result = session.wait(); ended = time.time()
    assert result.iterations == {ITERATIONS}
    return {{"begun": begun, "ended": ended, "iterating": result.iteration_seconds}}
def watched(): return timed(explorer.run())
def alone():
    session = Session(explorer.form.configuration()); session.start()
    return timed(session)
def race():
    watched(), alone()
    rounds = []
    for k in range({ROUNDS}):
        order = [("watched", watched), ("alone", alone)][:: 1 if k % 2 == 0 else -1]
        rounds.append({{name: (time.sleep(0.5), go())[1] for name, go in order}})
        explorer.clear()
    open("rounds.part", "w").write(json.dumps(rounds)); os.rename("rounds.part", "rounds.json")
threading.Thread(target=race, daemon=True).start()
"""
# The plot counts the frames in which it drew something new, and says so about once a second.
NOTE_PAINTS = """() => {
  window.paints = [];
  const canvas = document.querySelector(".wb-convergence canvas.wb-canvas");
  new MutationObserver(() => window.paints.push([Date.now() / 1000, Number(canvas.dataset.paints)]))
    .observe(canvas, { attributes: true, attributeFilter: ["data-paints"] });
}"""


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    load_before = os.getloadavg()[0]
    rounds, paints = measure()
    spans = {name: [race[name]["ended"] - race[name]["begun"] for race in rounds] for name in ("watched", "alone")}
    iterating = {name: [race[name]["iterating"] for race in rounds] for name in ("watched", "alone")}
    rates = [painted(paints, race["watched"]) for race in rounds]
    return {
        "problem": f"two-layer n={N}, cg + jacobi, {ITERATIONS} iterations",
        "rounds": ROUNDS,
        "wall_s": {name: statistics.median(seconds) for name, seconds in spans.items()},
        "slowdown_percent": 100 * (median_ratio(spans["watched"], spans["alone"]) - 1),
        "slowdown_of_iterations_percent": 100 * (median_ratio(iterating["watched"], iterating["alone"]) - 1),
        "slowdown_of_fastest_percent": 100 * (min(spans["watched"]) / min(spans["alone"]) - 1),
        "slowdown_of_each_round_percent": [
            round(100 * (a / b - 1), 1) for a, b in zip(spans["watched"], spans["alone"], strict=True)
        ],
        "paints_per_second": statistics.median(rates),
        "paints_per_second_least": min(rates),
        "load_before_and_after": [load_before, os.getloadavg()[0]],
    }


def measure() -> tuple[list[dict[str, Any]], list[tuple[float, int]]]:
    """The rounds as the kernel timed them, and how many paints the page had made at which time."""
    lab = _lab()
    with tempfile.TemporaryDirectory() as folder, lab.lab_server(Path(folder)) as url, lab.browser() as browser:
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [nbformat.v4.new_code_cell(source.strip()) for source in (EXPLORER, RACE)]
        home = Path(folder) / "notebooks"
        nbformat.write(notebook, home / "live_view.ipynb")
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        lab.open_notebook(page, url, "live_view.ipynb")
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        page.wait_for_selector(".wb-convergence canvas.wb-canvas", timeout=60_000)
        page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")
        page.evaluate(NOTE_PAINTS)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        end = time.monotonic() + LIMIT_SECONDS
        while not (home / "rounds.json").exists():
            if time.monotonic() > end:
                raise TimeoutError(f"the kernel made no {ROUNDS} rounds in {LIMIT_SECONDS} s")
            page.wait_for_timeout(500)
        return json.loads((home / "rounds.json").read_text()), page.evaluate("() => window.paints")


def painted(paints: list[tuple[float, int]], run: dict[str, float]) -> float:
    """Paints of new points per second while a run went on."""
    seen = [(moment, count) for moment, count in paints if run["begun"] <= moment <= run["ended"]]
    return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


def _lab() -> Any:
    """The browser tests' way to start JupyterLab."""
    path = Path(__file__).parents[1] / "tests" / "browser" / "lab.py"
    spec = importlib.util.spec_from_file_location("workbench_lab", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
