"""Response times of the live views and their cost to a solve, measured in a real JupyterLab in headless Chromium.

    python -m benchmarks live_view [--quick] [--output FOLDER]

One run measures all requirements and prints them as a table on stderr: response time of buttons, paints per second of
curves and field during a run, time of a draw of a timeline with 50,000 events and of a plot with 20 curves of 5,000
samples while they are zoomed, time from a pause of a drag of a bubble to the curve of the solve that it begins, the
slowdown of a solve that is shown, and of one that is filmed. Ten pages that `make app` serves are opened as well: time
to the first picture, and memory. --quick makes few rounds, to test the benchmark.

Slowdown: a run is shown and not shown alternately, in windows of about a second, two pairs of them per run; a round
compares iterations per second of one pair, so other load affects both. A page acknowledges when it paints, every twelve
seconds, so all acknowledgements fall into the windows in which the run is shown. This is done twice, since the browser
shares the cores with the solver: with the page, and with a light client that receives and acknowledges the same
messages but paints nothing, as if the page were open on another machine. The difference is the browser's own work; a
bare page, which only paints two canvases as often, shows how much of that is unavoidable. If there is a CUDA device,
all is repeated with the solver on it. The interval is that of the median of the rounds, by 4000 bootstrap samples.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.live_view import rounds
from benchmarks.live_view.bare import with_a_bare_page
from benchmarks.live_view.chromium import chromium
from benchmarks.live_view.dragging import dragging
from benchmarks.live_view.filmed import filmed
from benchmarks.live_view.lab import lab_tools
from benchmarks.live_view.page import Page
from benchmarks.live_view.remote import watched_from_elsewhere
from benchmarks.live_view.report import costs, requirements, table
from benchmarks.live_view.served_pages import served_pages
from workbench import devices
from workbench.errors import InputError

ROUNDS, QUICK_ROUNDS = 40, 2
CLICKS, QUICK_CLICKS = 25, 2
RUNS, QUICK_RUNS = 10, 2
PAGES, QUICK_PAGES = 10, 2
PAUSES, QUICK_PAUSES = 20, 2
WORDS = {"coefficient": "", "residual": ", and the residual's picture live"}
"""What the field shows during a timed solve, and how a row of the table says it."""
QUANTITIES = tuple(WORDS)


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    load_before = os.getloadavg()[0]
    count, presses, runs = (QUICK_ROUNDS, QUICK_CLICKS, QUICK_RUNS) if quick else (ROUNDS, CLICKS, RUNS)
    lab = lab_tools()
    with tempfile.TemporaryDirectory() as made, lab.lab_server(Path(made)) as url, chromium(lab, Path(made)) as browser:
        home = Path(made) / "notebooks"
        with Page(lab, browser, url, home) as page:
            page.open_explorer()
            on_cores = _watched(page, count, presses, runs)
            timeline, plot = page.timeline(), page.plot()
        bare = with_a_bare_page(browser, count)
        elsewhere = {name: watched_from_elsewhere(url, home, count, name) for name in QUANTITIES}
        watched = {"": on_cores}
        if title := _accelerator():
            with Page(lab, browser, url, home) as page:
                page.open_explorer("cuda")
                watched[f", {title}"] = _watched(page, count, presses, runs)
    with lab.browser() as browser, tempfile.TemporaryDirectory() as made:
        served = served_pages(lab, browser, Path(made) / "app", QUICK_PAGES if quick else PAGES)
        dragged = dragging(lab, browser, Path(made) / "drag", QUICK_PAUSES if quick else PAUSES)
    films = filmed(count)
    places = {f"page elsewhere{WORDS[name]}": told["rounds"] for name, told in elsewhere.items()}
    for where, told in watched.items():
        places |= {f"page on the same cores{where}{WORDS[name]}": told["rounds"][name] for name in QUANTITIES}
    wanted = requirements(watched, timeline, plot, dragged, places, bare, films)
    print(table(wanted), file=sys.stderr, flush=True)
    return {
        "problem": f"two-layer n={rounds.N}, on an accelerator n={rounds.ACCELERATED_N}, cg + jacobi",
        "requirements": wanted,
        "slowdown": {place: costs(found) for place, found in places.items()},
        "bare_page": costs(bare),
        "film": films,
        "client_elsewhere": {name: told["client"] for name, told in elsewhere.items()},
        "watched": {
            where: {name: found for name, found in told.items() if name != "rounds"} for where, told in watched.items()
        },
        "timeline": timeline,
        "plot": plot,
        "dragging": dragged,
        "served_pages": served,
        "load_before_and_after": [load_before, os.getloadavg()[0]],
    }


def _watched(page: Page, count: int, presses: int, runs: int) -> dict[str, Any]:
    """Clicks, rounds and paints with the explorer that is open."""
    found: dict[str, Any] = {"answers": page.clicks(presses), "rounds": {}, "draws": {}}
    for name in QUANTITIES:
        page.show(name)
        found["rounds"][name], found["draws"][name] = page.rounds(count)
    page.show(QUANTITIES[0])
    return {**found, "curves": page.curves(runs), "field": page.field(runs)}


def _accelerator() -> str:
    """The name of the CUDA device, empty if there is none."""
    try:
        return devices.device("cuda").note
    except InputError as error:
        print(f"not measured: {error}", file=sys.stderr)
        return ""
