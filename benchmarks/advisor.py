"""Quality of the advisor's pick, compared with full solves of all pairs, and of its predictions from small grids.

    python -m benchmarks advisor [--quick] [--output FOLDER]
    python -m benchmarks.advisor --problem bubbles-3d --n 256 --probe-n 64 [--device cuda] [--param count=8]
    python -m benchmarks.advisor --problem bubbles-3d --n 48 --races 5

The first: on the paper's problems and three others, every pair is solved once, for at most 1.5 times as long as the
best so far (setup included); first levels whose setup alone takes longer are not combined with second levels. Pairs
within 1.5 of the best are then solved again in interleaved rounds, the pick among them; the figure is the pick's median
time over the smallest median. The second: `advise(probe_n=...)` solves on grids of probe-n and half as many points per
side; its best pairs are then solved with n, and each total is printed over what was predicted. The third: the pick
races the second that was measured. A race is repeated as on the page until its medians are known; it ends with a
winner, or both are too close to call. `holds` counts the races that the pick does not lose.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from functools import partial
from typing import Any

from benchmarks.common import attempts, interleaved
from workbench.advise import advise
from workbench.advise.advice import configuration_of
from workbench.advise.level_pairs import LevelPair, level_pairs
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem
from workbench.run import Race, Run, Stopping, configure, run_through
from workbench.run.jobs.ranking import rank
from workbench.run.jobs.repeats import Repeats

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
PREDICTED = {"8 bubbles": ("bubbles-3d", {"sides": "z-:dirichlet"}), "two layers": ("two-layer", {})}
"""Problems of the predictions that run with all benchmarks."""
SIZES = {"8 bubbles": (128, 64), "two layers": (1024, 256)}
"""Points per side of the problem, and of the largest probe."""
QUICK_SIZES = {"8 bubbles": (32, 16)}
CHECKED = 6
"""Pairs with the best predictions that are solved at full size."""
WORTH_A_LOOK = 1.5
MOST_AGAIN = 8
ROUNDS = 3


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    jobs: dict[str, Any] = {}
    for label, (n, probe_n) in (QUICK_SIZES if quick else SIZES).items():
        name, parameters = PREDICTED[label]
        problem = configure(name, parameters, n=n).problem
        jobs[f"{label}, n = {n} from {probe_n}"] = partial(predicted, problem, probe_n, "cpu")
    if not quick:
        cases = {label: configure(name, parameters).problem for label, (name, parameters) in CASES.items()}
        jobs |= {label: partial(measure, problem) for label, problem in cases.items()}
    return attempts(jobs)


def predicted(problem: Problem, probe_n: int, device: str) -> dict[str, Any]:
    """Predictions from small grids next to measurements; the second of two solves counts, since the first compiles."""
    advice = advise(problem, probe_n=probe_n, devices=(device,))
    system = problem.assemble()
    rows = {}
    for estimate in advice.estimates[:CHECKED]:
        configuration = configuration_of(problem, estimate.pair, STOPPING)
        run_through(Run(configuration, system))
        result = run_through(Run(configuration, system))
        total = result.setup_seconds + result.iteration_seconds
        rows[estimate.pair.label] = {
            "predicted": _figures(estimate.setup_seconds, estimate.iterations, estimate.iteration_seconds),
            "measured": _figures(result.setup_seconds, result.iterations, result.iteration_seconds),
            "probes_n": list(estimate.probe_ns),
            "converged": result.converged,
            "measured_over_predicted": total / estimate.seconds,
        }
    totals = {label: row["measured"]["total_s"] for label, row in rows.items() if row["converged"]}
    pick = advice.estimates[0].pair.label
    return {
        "unknowns": system.operator.shape[0],
        "pick": pick,
        "pick_over_best_of_checked": totals.get(pick, math.inf) / min(totals.values()),
        "advice_s": advice.probe_seconds,
        "pairs": rows,
    }


def raced(problem: Problem, races: int, device: str) -> dict[str, Any]:
    """The outcomes of races of the pick against the second that was measured; the first race of a process compiles."""
    advice = advise(problem, devices=(device,))
    two = [row for row in advice.estimates if row.measured][:2]
    if len(two) < 2:
        raise InputError("one pair was measured, which has no rival; take a larger problem")
    configurations = [configuration_of(problem, row.pair, STOPPING) for row in two]
    outcomes = []
    for _ in range(races):
        race = Race(configurations, queue=None)
        race.wait()
        repeats = Repeats(race.entries, queue=None)
        repeats.start()
        repeats.wait()
        found = rank(race.entries, STOPPING.rtol or 0.0, "seconds", samples=repeats.samples)
        pick = race.entries[0]
        close = len(found.winners) > 1
        outcomes.append(
            {
                "outcome": "too close to call" if close else "wins" if found.finished[0].entry is pick else "loses",
                "pick_s": next(finish.amount for finish in found.finished if finish.entry is pick),
                "second_s": next(finish.amount for finish in found.finished if finish.entry is not pick),
                "rounds": repeats.rounds,
            }
        )
    return {
        "pick": two[0].pair.label,
        "second": two[1].pair.label,
        "advised_s": [row.seconds for row in two],
        "advised_too_close": two[0].close_to(two[1]),
        "advice_s": advice.probe_seconds,
        "races": outcomes,
        "holds": sum(each["outcome"] != "loses" for each in outcomes),
    }


def _figures(setup: float, iterations: float, iterating: float) -> dict[str, float]:
    return {
        "setup_s": setup,
        "iterations": iterations,
        "per_iteration_s": iterating / max(1, iterations),
        "total_s": setup + iterating,
    }


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


def main() -> None:
    """Print the predictions for one problem next to measurements, or the outcomes of races."""
    parser = argparse.ArgumentParser(prog="benchmarks.advisor", description="predictions next to measurements")
    parser.add_argument("--problem", default="bubbles-3d")
    parser.add_argument("--n", type=int, default=128, help="points per side")
    parser.add_argument("--probe-n", type=int, default=64, help="points per side of the largest grid probed")
    parser.add_argument("--races", type=int, default=0, help="races of the pick against the second, and no predictions")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="of the problem")
    options = parser.parse_args()
    parameters = dict(text.split("=", 1) for text in options.param)
    problem = configure(options.problem, parameters, n=options.n).problem
    if options.races:
        print(json.dumps(raced(problem, options.races, options.device), indent=2))
        return
    print(json.dumps(predicted(problem, options.probe_n, options.device), indent=2))


if __name__ == "__main__":
    main()
