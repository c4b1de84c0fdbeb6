"""One iteration of Jacobi-CG, compared with SciPy's on the same matrix and with the triad bandwidth.

    python -m benchmarks cg_iteration [--output FOLDER]

SciPy runs its CSR product and `scipy.sparse.linalg.cg` with the same Jacobi preconditioner. Our bandwidth is the bytes
counted from the compiled lines over the time. Rounds are interleaved, figures are medians.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import linalg

from benchmarks.common import attempts, interleaved, median_ratio
from workbench.devices.host.triad import triad_bandwidth
from workbench.run import Run, Stopping, configure, run_through

CASES = (("poisson7", 128), ("poisson5", 1024))
ITERATIONS = 20
ROUNDS = 15


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return attempts({f"{name} n={n}": partial(measure, name, n) for name, n in CASES})


def measure(name: str, n: int) -> dict[str, float]:
    """Milliseconds per iteration, the ratio to SciPy, and the share of the triad bandwidth."""
    configuration = configure(name, n=n, rhs="random", stopping=Stopping(rtol=1e-30, maxiter=ITERATIONS))
    system = configuration.problem.assemble()
    matrix = system.operator.to_csr()
    run = Run(configuration, system)
    b, inverse = run.setup.b, 1 / matrix.diagonal()
    jacobi = linalg.LinearOperator(matrix.shape, matvec=lambda r: inverse * r, dtype=matrix.dtype)
    (_, iterate) = run.workspace.lines(configuration.solver.start, configuration.solver.iterate)
    bandwidths: list[float] = []
    inside: list[float] = []

    def ours() -> None:
        result = run_through(Run(configuration, system))
        inside.append(statistics.median(np.diff(result.history["seconds"])))

    def scipy_cg() -> None:
        linalg.cg(matrix, b, rtol=1e-30, atol=0, maxiter=ITERATIONS, M=jacobi)

    def triad() -> None:
        bandwidths.append(triad_bandwidth(seconds=0.3).median)

    seconds = interleaved({"ours": ours, "scipy": scipy_cg, "triad": triad}, ROUNDS)
    per_iteration = inside[1:]
    theirs = [value / ITERATIONS for value in seconds["scipy"]]
    ours_bandwidth = [iterate.bytes / value for value in per_iteration]
    return {
        "N": run.setup.b.size,
        "ours_ms": 1e3 * statistics.median(per_iteration),
        "scipy_ms": 1e3 * statistics.median(theirs),
        "times_faster_than_scipy": median_ratio(theirs, per_iteration),
        "counted_bytes_per_unknown": iterate.bytes / run.setup.b.size,
        "ours_GB_per_s": 1e-9 * statistics.median(ours_bandwidth),
        "triad_GB_per_s": 1e-9 * statistics.median(bandwidths[1:]),
        "share_of_triad": median_ratio(ours_bandwidth, bandwidths[1:]),
    }
