"""One iteration of CG on the CPU device and on OpenCL, which on most machines is PoCL on the same cores.

    python -m benchmarks devices [--output FOLDER]

Times are per iteration within long runs, rounds are interleaved, figures are medians.
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
ITERATIONS = 32
ROUNDS = 9
ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    try:
        title = devices.device("opencl").runtime.title
    except InputError as sentence:
        return {"not run": str(sentence)}
    cases = {f"{case[0]} n={case[1]}, {case[2]} + {case[3]}": partial(measure, *case) for case in CASES}
    return {"opencl": title, "rows": attempts(cases)}


def measure(name: str, n: int, first: str, second: str) -> dict[str, float]:
    """Milliseconds per iteration on both, and the ratio of OpenCL to CPU."""
    system = configure(name, {"n": n}).problem.assemble()
    choices = {"preconditioner": first, "deflation": second, "rhs": "random", "stopping": ENDLESS}
    runs = {device: Run(configure(name, {"n": n}, device=device, **choices), system) for device in ("cpu", "opencl")}
    kept: dict[str, list[float]] = {device: [] for device in runs}

    def some(device: str) -> None:
        run = runs[device]
        before, made = run.iteration_seconds, run.iterations
        while run.iterations < made + ITERATIONS:
            run.step()
        kept[device].append((run.iteration_seconds - before) / (run.iterations - made))

    interleaved({device: lambda device=device: some(device) for device in runs}, ROUNDS)
    milliseconds = {f"{device}_ms": 1e3 * statistics.median(kept[device][1:]) for device in runs}
    return milliseconds | {"opencl_over_cpu": median_ratio(kept["opencl"][1:], kept["cpu"][1:])}
