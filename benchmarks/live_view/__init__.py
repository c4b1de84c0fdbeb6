"""What the live views cost a solve and how quickly they answer, measured in a real JupyterLab in headless Chromium.

    python -m benchmarks live_view [--quick] [--output FOLDER]

One run measures all requirements and prints them as a table on stderr: how long a button takes to answer, how often
curves and field are painted while a run goes on, how long a draw of a timeline with 50,000 events takes, and how much a
watched solve is slower than one alone. --quick makes few rounds, which tell only that all of it works.

A run is watched and left alone in turns, in windows of about a second, two pairs of them a run; a round compares the
iterations a second of one pair. So what else goes on in the machine falls on both. An answer of the page, one every few
seconds, may come in the window after the one that it belongs to. This is done twice, since the browser shares this
machine's cores with the solver: once with the page, and once with a light client in its place that is sent the same
messages and acknowledges them but paints nothing, as if the page were open on another machine. The difference between
the two is the browser's own work. Where there is a CUDA device, it is done once more with the solver on that. Where
other work disturbs the rounds, see the interval: it is that of the median of the rounds, by 4000 bootstrap samples.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.live_view import rounds
from benchmarks.live_view.chromium import Chromium, chromium
from benchmarks.live_view.lab import lab_tools
from benchmarks.live_view.page import Page
from benchmarks.live_view.remote import watched_from_elsewhere
from benchmarks.live_view.report import costs, requirements, table
from workbench import devices
from workbench.errors import InputError

ROUNDS, QUICK_ROUNDS = 40, 2
CLICKS, QUICK_CLICKS = 25, 2
RUNS, QUICK_RUNS = 10, 2


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    load_before = os.getloadavg()[0]
    count, presses, runs = (QUICK_ROUNDS, QUICK_CLICKS, QUICK_RUNS) if quick else (ROUNDS, CLICKS, RUNS)
    lab = lab_tools()
    with tempfile.TemporaryDirectory() as made, lab.lab_server(Path(made)) as url, chromium(lab, Path(made)) as browser:
        home = Path(made) / "notebooks"
        with Page(lab, browser, url, home) as page:
            page.open_explorer()
            answers = page.clicks(presses)
            here, draws = page.rounds(count)
            page.show("residual")
            with_field, _ = page.rounds(count)
            page.show("coefficient")
            curves, field = page.curves(runs), page.field(runs)
            timeline = page.timeline()
        elsewhere = {name: watched_from_elsewhere(url, home, count, name) for name in ("coefficient", "residual")}
        accelerated = _accelerated(lab, browser, url, home, count)
    places = {
        "page elsewhere: kernel and server alone": elsewhere["coefficient"]["rounds"],
        "page elsewhere, and the residual's picture live": elsewhere["residual"]["rounds"],
        "page in Chromium on the same cores": here,
        "page on the same cores, and the residual's picture live": with_field,
        **accelerated,
    }
    wanted = requirements(answers, curves, field, timeline, places)
    print(table(wanted), file=sys.stderr, flush=True)
    return {
        "problem": f"two-layer n={rounds.N}, on an accelerator n={rounds.ACCELERATED_N}, cg + jacobi",
        "requirements": wanted,
        "slowdown": {place: costs(found) for place, found in places.items()},
        "client_elsewhere": {name: told["client"] for name, told in elsewhere.items()},
        "clicks": answers,
        "convergence_paints_per_second": curves,
        "field_paints_per_second": field,
        "timeline": timeline,
        "convergence_draws": draws,
        "load_before_and_after": [load_before, os.getloadavg()[0]],
    }


def _accelerated(lab: Any, browser: Chromium, url: str, home: Path, count: int) -> dict[str, list[dict[str, Any]]]:
    """The same rounds with the page, the solver on CUDA; none where there is no such device."""
    try:
        title = devices.device("cuda").note
    except InputError as error:
        print(f"not measured: {error}", file=sys.stderr)
        return {}
    with Page(lab, browser, url, home) as page:
        page.open_explorer("cuda")
        alone, _ = page.rounds(count)
        page.show("residual")
        with_field, _ = page.rounds(count)
    return {title: alone, f"{title}, and the residual's picture live": with_field}
