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

from workbench.machine.profile import Profile, profile
from workbench.machine.retime import retime
from workbench.operators import Size
from workbench.run import Configuration, Run, configure

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


@dataclasses.dataclass(frozen=True)
class Method:
    """A method of the paper on one of its problems. coarse: `inverse`, `dense-cholesky`, or `inner-cg`, whose few
    vectors cost nothing here."""

    problem: str
    n: int
    first: str
    second: str
    coarse: str
    parameters: tuple[tuple[str, Any], ...] = ()


def seconds_of_iteration(method: Method, machine: str) -> float:
    """Of an iteration on q9550 or c2070."""
    small = dataclasses.replace(method, n=max(LEAST, method.n // SMALLER))
    ratio = (method.n / small.n) ** _dimensions(method)
    return ratio * _seconds_of_kernels(small, machine) + coarse_bytes(method) / profile(machine).bandwidth.value


def seconds_of_setup(method: Method, machine: str) -> float:
    """Of a setup: factor or inverse, and on the GPU the copy of the data."""
    found = profile(machine)
    arithmetic = DENSE.get(method.coarse, 0) * vectors(method) ** 3 / _peak(found)
    if found.kind == "cpu":
        return arithmetic
    moved = seconds_of_iteration(method, machine) * found.bandwidth.value
    return arithmetic + moved / found.required("to_device_bandwidth").value


def coarse_bytes(method: Method) -> int:
    """Bytes of a dense coarse solve."""
    return 8 * vectors(method) ** 2 if method.coarse in DENSE else 0


def vectors(method: Method) -> int:
    """The number of deflation vectors."""
    size = _size(method)
    count = _configured(method).deflation.estimated_count(size.unknowns, size.grid, 0.0)
    assert count is not None
    return count


def _dimensions(method: Method) -> int:
    grid = _size(method).grid
    assert grid is not None
    return len(grid)


def _size(method: Method) -> Size:
    size = _configured(method).problem.known_size
    assert size is not None
    return size


def _configured(method: Method) -> Configuration:
    """With a coarse solver that costs little: its kernel states no bytes, and is modelled apart."""
    return configure(
        method.problem,
        {"n": method.n, **dict(method.parameters)},
        preconditioner=method.first,
        deflation=method.second,
        coarse="cholesky",
        variant="def1",
    )


def _peak(found: Profile) -> float:
    assert found.flops is not None
    return found.flops.value


@functools.cache
def _trace(method: Method) -> Any:
    """A few iterations, traced on the cores."""
    run = Run(_configured(method), trace=True)
    for _ in range(EVENTS_OF + 1):
        run.step()
    return run.trace


def _seconds_of_kernels(method: Method, machine: str) -> float:
    """Of an iteration without its coarse solve, which states no bytes."""
    modelled = retime(_trace(dataclasses.replace(method, coarse="cholesky")), profile(machine))
    stated = [bool(kernel.bytes) for kernel in modelled.kernels]
    return sum(
        float(event["end"] - event["start"])
        for event in modelled.rows
        if event["iteration"] == EVENTS_OF and stated[event["kernel"]]
    )
