"""Time of an iteration of preconditioned CG, with and without deflation, on the devices cpu and opencl.

    python -m benchmarks devices [--output FOLDER]

On most machines OpenCL is PoCL, on the same cores. Times are per iteration within long runs; rounds are interleaved and
figures are medians over rounds.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.errors import InputError
from workbench.run import Run, Stopping, configure

CASES = (
    ("poisson7", 128, "jacobi", "none"),
    ("poisson5", 1024, "jacobi", "none"),
    ("two-layer", 1024, "neumann:2", "stripes"),
    ("bubbles-3d", 128, "jacobi", "blocks:4"),
)
"""Problem, n, preconditioner and deflation."""
ITERATIONS = 32
"""Iterations of a round, at least."""
ROUNDS = 9
ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)
"""Criteria that no run of the benchmark meets."""


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    try:
        title = devices.device("opencl").runtime.title
    except InputError as sentence:
        return {"not run": str(sentence)}
    cases = {f"{case[0]} n={case[1]}, {case[2]} + {case[3]}": partial(measure, *case) for case in CASES}
    return {"opencl": title, "rows": attempts(cases)}


def measure(name: str, n: int, first: str, second: str) -> dict[str, float]:
    """Milliseconds per iteration on both devices, and the ratio of OpenCL to CPU."""
    system = configure(name, {"n": n}).problem.assemble()
    choices = {"preconditioner": first, "deflation": second, "rhs": "random", "stopping": ENDLESS}
    runs = {device: Run(configure(name, {"n": n}, device=device, **choices), system) for device in ("cpu", "opencl")}
    seconds: dict[str, list[float]] = {device: [] for device in runs}

    def iterate(device: str) -> None:
        run = runs[device]
        before, made = run.iteration_seconds, run.iterations
        while run.iterations < made + ITERATIONS:
            run.step()
        seconds[device].append((run.iteration_seconds - before) / (run.iterations - made))

    interleaved({device: lambda device=device: iterate(device) for device in runs}, ROUNDS)
    # The first is the call of `interleaved` for warming up.
    milliseconds = {f"{device}_ms": 1e3 * statistics.median(seconds[device][1:]) for device in runs}
    return milliseconds | {"opencl_over_cpu": median_ratio(seconds["opencl"][1:], seconds["cpu"][1:])}
