"""Overhead of tracing, and accuracy of retiming on this machine's own profile.

    python -m benchmarks tracing [--output FOLDER]

Overhead: iteration time of the same solve with and without a trace, rounds interleaved, the median of the ratios.
Retiming: the machine is calibrated in the same run, and the modelled total is compared with the measured one; `kernels`
compares the time in kernels only, `total` includes the host's time between them.
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.common import interleaved, median_ratio
from workbench.machines.calibrate import calibrate
from workbench.machines.retime import compare, retime
from workbench.run import Run, Stopping, configure, run_through

CASES = (
    ("two-layer", 1024, {"preconditioner": "neumann:2", "deflation": "stripes"}),
    ("two-layer", 2048, {"preconditioner": "neumann:2", "deflation": "stripes"}),
    ("poisson7", 128, {"rhs": "random"}),
)
ITERATIONS = 60
ROUNDS = 15
RETIMED = 5


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return {"overhead": overhead(*CASES[0]), "retimed": {f"{case[0]} n={case[1]}": retimed(*case) for case in CASES}}


def overhead(name: str, n: int, blocks: dict[str, str]) -> dict[str, float]:
    """Milliseconds per iteration without and with a trace, and their ratio."""
    configuration = configure(name, n=n, **blocks, stopping=Stopping(rtol=1e-30, maxiter=ITERATIONS))
    system = configuration.problem.assemble()
    inside: dict[bool, list[float]] = {False: [], True: []}
    events: list[int] = []

    def solve(trace: bool) -> None:
        result = run_through(Run(configuration, system, trace=trace))
        inside[trace].append(result.iteration_seconds / ITERATIONS)
        if result.trace is not None:
            events.append(len(result.trace))

    interleaved({"plain": lambda: solve(False), "traced": lambda: solve(True)}, ROUNDS)
    plain, traced = inside[False][1:], inside[True][1:]
    return {
        "N": system.operator.shape[0],
        "plain_ms": 1e3 * statistics.median(plain),
        "traced_ms": 1e3 * statistics.median(traced),
        "overhead_percent": 100 * (median_ratio(traced, plain) - 1),
        "events_an_iteration": events[-1] / ITERATIONS,
    }


def retimed(name: str, n: int, blocks: dict[str, str]) -> dict[str, Any]:
    """Modelled over measured time, medians over runs, each calibrated just before."""
    configuration = configure(name, n=n, **blocks, stopping=Stopping(rtol=1e-30, maxiter=ITERATIONS))
    system = configuration.problem.assemble()
    run_through(Run(configuration, system))
    ratios: dict[str, list[float]] = {"cpu": [], "total": []}
    bandwidths: list[float] = []
    notes: list[str] = []
    for _ in range(RETIMED):
        profile = calibrate("here", seconds=0.5)
        trace = run_through(Run(configuration, system, trace=True)).trace
        assert trace is not None
        modelled = retime(trace, profile)
        bandwidths.append(profile.bandwidth.value)
        for row in compare(trace, modelled):
            ratios[row["lane"]].append(row["ratio"])
        notes = modelled.notes
    return {
        "N": system.operator.shape[0],
        "bandwidth_GB_per_s": 1e-9 * statistics.median(bandwidths),
        "kernels_modelled_over_measured": statistics.median(ratios["cpu"]),
        "total_modelled_over_measured": statistics.median(ratios["total"]),
        "notes": notes,
    }
