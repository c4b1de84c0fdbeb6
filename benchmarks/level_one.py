"""Cost of setup and of one application of first-level preconditioners, in seconds and in matrix-vector products.

    python -m benchmarks level_one [--output FOLDER]

Measured are those with an operator to apply; Jacobi is element-wise, and inlined into a pass. Rounds are interleaved;
times of applications are medians, ratios are medians of the ratios within a round, and each setup is timed once.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.preconditioners import ElementWise, Preconditioner
from workbench.registry import blocks as registry
from workbench.run import configure

SPECS = ("block-ic:2", "block-ic:4", "block-ic:8", "ic", "mic", "ssor", "neumann:1", "neumann:2")
SPECS += ("chebyshev:3", "fsai", "amg:sa", "amg:rs")
CASES: tuple[tuple[str, int], ...] = (("two-layer", 1024), ("bubbles-3d", 96))
ROUNDS = 15


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return attempts({f"{name} n={n}": partial(measure, name, n) for name, n in CASES})


def measure(name: str, n: int) -> dict[str, dict[str, float]]:
    """For A and each preconditioner: seconds of setup, milliseconds per application, and its cost in matrix-vector
    products."""
    operator = configure(name, n=n).problem.assemble().operator
    device = devices.device("cpu")
    product = operator.bind(device)
    r = np.random.default_rng(0).random(operator.shape[0])
    u, s = np.zeros_like(r), np.zeros_like(r)
    contestants: dict[str, Callable[[], Any]] = {"A": lambda: product.apply(r, s)}
    setup: dict[str, float] = {"A": 0.0}
    for spec in SPECS:
        block = registry.find("preconditioner", spec)
        assert isinstance(block, Preconditioner)
        begun = time.perf_counter()
        M = block.setup(operator, device)
        setup[spec] = time.perf_counter() - begun
        assert not isinstance(M, ElementWise)
        contestants[spec] = lambda M=M: M.apply(r, u)
    seconds = interleaved(contestants, ROUNDS)
    return {
        spec: {
            "setup_s": setup[spec],
            "application_ms": 1e3 * statistics.median(taken),
            "products_with_A": median_ratio(taken, seconds["A"]),
        }
        for spec, taken in seconds.items()
    }
