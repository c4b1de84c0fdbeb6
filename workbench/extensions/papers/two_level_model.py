"""Gupta, van Gijzen, Vuik 2013: iterations and setups on the paper's machines, modelled from the bytes of our kernels.

An iteration takes bytes/bandwidth or operations/peak for each kernel, whichever is longer, and so does its coarse
solve: 8 d^2 bytes for the dense product with E^-1, and as many for two dense triangular solves. A setup takes the
operations of factor or inverse at peak and, on the GPU, the copy of what an iteration reads. Without latencies, and
without the waiting of substitutions, both are lower bounds.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from workbench.machines.profile import profile
from workbench.machines.retime import retime
from workbench.run import Configuration, Run

MACHINES = CPU, GPU = "q9550", "c2070"
NOTE = (
    "Modelled: the bytes of our kernels at the nominal bandwidths of the Q9550 and the C2070, traced on a grid of a "
    "quarter of the sides and scaled. Both are lower bounds: the paper's kernels are not fused, and reach less."
)
SMALLER, LEAST = 4, 32
"""Grid points per side over those of the traced run, and the fewest of that."""
EVENTS_OF = 2
"""The iteration whose kernels are taken: the first one also sets up."""
DENSE = {"inverse": 2, "dense-cholesky": 1 / 3}
"""Operations of a setup over d^3."""


def seconds_of_iteration(what: Configuration, machine: str) -> float:
    """Seconds of an iteration on q9550 or c2070. A coarse solver without a dense matrix, as `inner-cg` for few vectors,
    costs nothing here."""
    n = _sides(what)[0]
    small = _with_side(what, max(LEAST, n // SMALLER))
    ratio = np.prod(_sides(what)) / np.prod(_sides(small))
    return float(ratio) * _seconds_of_kernels(small, machine) + coarse_bytes(what) / profile(machine).bandwidth.value


def seconds_of_setup(what: Configuration, machine: str) -> float:
    """Seconds of a setup: factor or inverse, and on the GPU the copy of the data."""
    found = profile(machine)
    arithmetic = DENSE.get(what.coarse.name, 0) * vectors(what) ** 3 / found.required("flops").value
    if found.kind == "cpu":
        return arithmetic
    moved = seconds_of_iteration(what, machine) * found.bandwidth.value
    return arithmetic + moved / found.required("to_device_bandwidth").value


def coarse_bytes(what: Configuration) -> int:
    """Bytes of a dense coarse solve."""
    return 8 * vectors(what) ** 2 if what.coarse.name in DENSE else 0


def vectors(what: Configuration) -> int:
    """The number of deflation vectors."""
    sides = _sides(what)
    count = what.deflation.estimated_count(int(np.prod(sides)), sides, 0.0)
    assert count is not None
    return count


def _sides(what: Configuration) -> tuple[int, ...]:
    size = what.problem.known_size
    assert size is not None
    assert size.grid is not None
    return size.grid


def _with_side(what: Configuration, n: int) -> Configuration:
    """The solve on a smaller grid, on the cores, with a coarse solver that costs little: its kernel states no bytes,
    and is modelled apart."""
    problem = dataclasses.replace(what.problem, n=n)
    return dataclasses.replace(what, problem=problem, coarse="cholesky", device="cpu", seed=0)


@functools.cache
def _trace(what: Configuration) -> Any:
    """A few iterations, traced on the cores."""
    run = Run(what, trace=True)
    for _ in range(EVENTS_OF + 1):
        run.step()
    return run.trace


def _seconds_of_kernels(what: Configuration, machine: str) -> float:
    """Seconds of an iteration without its coarse solve, which states no bytes."""
    modelled = retime(_trace(what), profile(machine))
    stated = [bool(kernel.bytes) for kernel in modelled.kernels]
    return sum(
        float(event["end"] - event["start"])
        for event in modelled.rows
        if event["iteration"] == EVENTS_OF and stated[event["kernel"]]
    )
