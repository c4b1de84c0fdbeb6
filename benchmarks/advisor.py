"""Quality of the advisor's pick, compared with full solves of all pairs, on the paper's problems and three others.

    python -m benchmarks advisor [--output FOLDER]

Every pair is solved once, for at most 1.5 times as long as the best so far (setup included); first levels whose setup
alone takes longer are not combined with second levels. Pairs within 1.5 of the best are then solved again in
interleaved rounds, the pick among them; the figure is the pick's median time over the smallest median.
"""

from __future__ import annotations

import math
import statistics
from functools import partial
from typing import Any

from benchmarks.common import attempts, interleaved
from workbench.analysis import advise
from workbench.analysis.advisor import configuration_of
from workbench.analysis.candidates import LevelPair, level_pairs
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Run, Stopping, configure, run_through

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "two-layer 1024^2": ("two-layer", {"n": 1024}),
    "slabs 128^3": ("slabs-3d", {"n": 128}),
    "1 bubble 128^3": ("bubbles-3d", {"n": 128, "count": 1}),
    "8 bubbles 128^3": ("bubbles-3d", {"n": 128, "count": 8}),
    "50 random bubbles 128^3": ("bubbles-3d", {"n": 128, "count": 50, "layout": "random", "radius": 0.05}),
    "4 bubbles in 2D, 1024^2": ("bubbles-2d", {"n": 1024, "count": 4}),
    "27-point Poisson 96^3": ("poisson27", {"n": 96}),
}
STOPPING = Stopping(rtol=1e-6)
WORTH_A_LOOK = 1.5
MOST_AGAIN = 8
ROUNDS = 3


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    cases = {label: configure(name, parameters).problem for label, (name, parameters) in CASES.items()}
    return attempts({label: partial(measure, problem) for label, problem in cases.items()})


def measure(problem: Problem) -> dict[str, Any]:
    """The pick, the best of all pairs, and the ratio of their times."""
    advice = advise(problem)
    pick = advice.estimates[0].pair
    system = problem.assemble()
    once = everything(problem, system, pick)
    near = sorted(once, key=lambda pair: once[pair])[:MOST_AGAIN]
    again = {
        pair: once[pair] for pair in dict.fromkeys([pick, *near]) if once[pair] <= WORTH_A_LOOK * min(once.values())
    }
    again.setdefault(pick, once[pick])
    seconds = {pair: [] for pair in again}

    def solve(pair: LevelPair) -> None:
        result = run_through(Run(configuration_of(problem, pair, STOPPING), system))
        seconds[pair].append(result.setup_seconds + result.iteration_seconds)

    interleaved({pair.label: lambda pair=pair: solve(pair) for pair in again}, ROUNDS)
    medians = {pair: statistics.median(times[1:]) for pair, times in seconds.items()}
    best = min(medians, key=lambda pair: medians[pair])
    return {
        "unknowns": system.operator.shape[0],
        "pick": pick.label,
        "pick_s": medians[pick],
        "best": best.label,
        "best_s": medians[best],
        "pick_over_best": medians[pick] / medians[best],
        "advice_s": advice.probe_seconds,
        "pairs_tried": len(once),
    }


def everything(problem: Problem, system: LinearSystem, pick: LevelPair) -> dict[LevelPair, float]:
    """Seconds of every pair that does not take much longer than the best, solved once."""
    found: dict[LevelPair, float] = {}
    too_slow: set[str] = set()
    best = math.inf
    everyone = level_pairs(problem, system, ("cpu",))
    # The pick first: its time bounds all others.
    for pair in [pick, *(other for other in everyone if other != pick)]:
        if pair.preconditioner in too_slow:
            continue
        limit = WORTH_A_LOOK * best
        try:
            run = Run(configuration_of(problem, pair, STOPPING), system)
        except InputError:
            continue
        if run.setup_seconds > limit:
            too_slow |= {pair.preconditioner} if pair.deflation == "none" else set()
            continue
        while run.step() and run.setup_seconds + run.iteration_seconds < limit:
            pass
        if run.reason is not None and run.result().converged:
            found[pair] = run.setup_seconds + run.iteration_seconds
            best = min(best, found[pair])
    return found
