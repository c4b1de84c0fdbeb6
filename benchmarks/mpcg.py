"""Multipreconditioned CG: whole solves of other methods too on the same problem, and its passes over stored terms.

    python -m benchmarks mpcg [--output FOLDER] [--quick]

Whole solves to ||r|| <= 1e-6 ||b||, setup included; medians of interleaved rounds after one that compiles. Where there
is a GPU, `boxes` are whole solves there and on the cores. Passes over terms, inner products and sums, are compared with
the memory bandwidth in the same rounds; bytes are counted with each stored term once per pass, and with the vectors
that it meets once per group of terms.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.block import STREAMED, stream
from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, colours
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through

METHODS: dict[str, dict[str, str]] = {
    "mpcg": {"solver": "mpcg", "preconditioner": "schwarz:3x3,overlap=4"},
    "CG with the sum": {"solver": "sum-cg", "preconditioner": "schwarz:3x3,overlap=4"},
    "CG, jacobi": {"preconditioner": "jacobi"},
    "CG, ic": {"preconditioner": "ic"},
    "deflated CG, ic": {"preconditioner": "ic", "deflation": "blocks:16"},
    "CG, amg": {"preconditioner": "amg:sa"},
}
TERMS = 24
BOXES = ((500, "3x3"), (500, "8x8"), (1000, "4x4"), (1000, "8x8"), (2000, "8x8"))
"""Points per side of poisson-fd, and boxes."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    n, rounds = (100, 1) if quick else (500, 5)
    jobs = {
        f"poisson-fd n={n}": partial(solves, "poisson-fd", n, rounds),
        f"two-layer n={n}": partial(solves, "two-layer", n, rounds),
        "passes over terms": partial(passes, n, 3 * rounds),
    }
    if "cuda" in devices.names():
        for points, boxes in BOXES[: 1 if quick else None]:
            jobs[f"boxes on cuda, n={points}, {boxes}"] = partial(on_gpu, points, boxes, min(rounds, 3))
    return attempts(jobs)


def solves(problem: str, n: int, rounds: int) -> dict[str, Any]:
    """Iterations, seconds of setup and iterations, and the whole over that of mpcg, for each method."""
    return compared(problem, n, METHODS, rounds)


def on_gpu(n: int, boxes: str, rounds: int) -> dict[str, Any]:
    """The same for both methods with boxes, on the GPU and on the cores."""
    M = f"schwarz:{boxes},overlap=4"
    methods = {
        f"{solver}, {device}": {"solver": solver, "preconditioner": M, "device": device}
        for solver in ("mpcg", "sum-cg")
        for device in ("cuda", "cpu")
    }
    return compared("poisson-fd", n, methods, rounds)


def compared(problem: str, n: int, methods: dict[str, dict[str, str]], rounds: int) -> dict[str, Any]:
    """Iterations, seconds of setup and iterations, and the whole over that of the first, for each method."""
    first = next(iter(methods))
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    made: dict[str, dict[str, Any]] = {}
    for count in range(rounds + 1):
        for name, chosen in methods.items():
            begun = time.perf_counter()
            run = Run(configure(problem, n=n, stopping=Stopping(rtol=1e-6), **chosen))
            setup = time.perf_counter() - begun
            result = run_through(run)
            # The first round compiles.
            taken[name] += [(setup, run.iteration_seconds)] if count else []
            made[name] = {"iterations": result.iterations, "true_residual": result.true_relative_residual}
    whole = {name: [sum(pair) for pair in pairs] for name, pairs in taken.items()}
    for name, pairs in taken.items():
        made[name] |= {
            "setup_s": statistics.median(setup for setup, _ in pairs),
            "iterating_s": statistics.median(seconds for _, seconds in pairs),
            f"whole / {first}": median_ratio(whole[name], whole[first]),
        }
    return made


def passes(n: int, rounds: int) -> dict[str, Any]:
    """Inner products of `TERMS` terms, and their sum: GB/s by counted bytes, and the share of the triad's."""
    device = devices.device("cpu")
    operator = configure("poisson-fd", n=n).problem.assemble().operator
    M: Any = registry.find("preconditioner", METHODS["mpcg"]["preconditioner"])
    member = M.setup(operator, device).members[0]
    vectors, size = member.vectors, operator.shape[0]
    rng = np.random.default_rng(0)
    terms = [rng.random(vectors.pieces.local_size) for _ in range(TERMS)]
    panel_of = colours(member.product_pattern)
    panel = vectors.panel(panel_of.max() + 2)
    products = vectors.products(Couplings(vectors.pieces, member.product_pattern, panel_of))
    weights, d = rng.random((ROWS_AT_ONCE, vectors.pieces.count)), np.zeros(size)
    groups = [terms[first : first + ROWS_AT_ONCE] for first in range(0, TERMS, ROWS_AT_ONCE)]

    def multiply() -> None:
        for group in groups:
            products(group, panel)

    def add() -> None:
        for group in groups:
            vectors.combine(group, weights, d, add=True)

    seconds = interleaved({"inner products": multiply, "sum of terms": add, "triad": stream(device)}, rounds)
    stored = 8 * TERMS * vectors.pieces.local_size
    counted = {
        "inner products": stored + 8 * size * len(panel) * len(groups),
        "sum of terms": stored + 16 * size * len(groups),
    }
    rates = {name: [1e-9 * nbytes / taken for taken in seconds[name]] for name, nbytes in counted.items()}
    streamed = [1e-9 * STREAMED / taken for taken in seconds["triad"]]
    return {
        name: {
            "ms": 1e3 * statistics.median(seconds[name]),
            "GB/s": statistics.median(rate),
            "triad GB/s": statistics.median(streamed),
            "share of triad": median_ratio(rate, streamed),
        }
        for name, rate in rates.items()
    }
