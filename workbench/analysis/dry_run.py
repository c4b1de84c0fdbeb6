"""What a schedule would do, for a system of any size, without a system: the solver's own recurrence run on nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

from workbench import registry
from workbench.devices.accelerator.clock import DeviceClock
from workbench.devices.dry_run import Cut, Nothing, Pair, Side, Sizes, Split
from workbench.devices.dry_run.products import Product
from workbench.devices.dry_run.runtime import Unfilled
from workbench.devices.pair.clock import PairClock
from workbench.errors import InputError
from workbench.preconditioners import ElementWise
from workbench.recording.trace import REHEARSED, Trace
from workbench.solvers import Solver

CORES, ACCELERATOR = WHERE = ("cores", "accelerator")
ITERATIONS = 8
"""So many that copies and kernels of neighbouring iterations have found their rhythm."""
NOBODY = "no machine: nothing was computed"
LEFT_OUT = (
    "rehearsed: bytes and order of every kernel and copy, no times",
    "scalars and the launches that hold nothing else count nothing, and so does what the host does between kernels",
)


@dataclasses.dataclass(frozen=True)
class DryRun:
    """trace: events of length zero, labelled `rehearsed`. held: bytes of matrix and vectors on the accelerator."""

    trace: Trace
    held: int


def rehearse(
    solver: str | Solver,
    sizes: Sizes,
    on: str = ACCELERATOR,
    cut: Cut | None = None,
    *,
    iterations: int = ITERATIONS,
    fuse: bool = True,
) -> DryRun:
    """The events of the start and so many iterations of a method with Jacobi, without a matrix or a vector.

    solver: with its parameters, as in `hybrid2:fused=no`. on: where a method for one device runs; those for both take
    the two. cut: how the rows are shared out, for hybrid3. fuse: as many lines a sweep as the plan allows, else one,
    for a method on one device; others have parameters for it. Cost: planning the lines, some milliseconds. Raises
    InputError for unknown names, and for a solver `hybrid`, which has no schedule of its own.
    """
    method: Any = registry.find("solver", solver) if isinstance(solver, str) else solver
    if method.name == "hybrid":
        raise InputError("solver hybrid chooses among schedules; rehearse hybrid1, hybrid2, hybrid3 or pipecg")
    if on not in WHERE:
        raise InputError(registry.unknown_name("side", on, WHERE))
    if iterations < 1:
        raise InputError(f"at least 1 iteration must be rehearsed, got {iterations}")
    runtime = Nothing()
    device = _device(method, runtime, sizes, on, cut)
    trace = _Timeless(NOBODY, REHEARSED, LEFT_OUT)
    nothing: Any = runtime
    clock: Any = (PairClock if method.needs_accelerator else DeviceClock)(nothing, trace)
    space = device.workspace(
        sizes.size,
        sizes.dtype,
        vectors={name: Unfilled(sizes.size, sizes.dtype) for name in ("b", "x")},
        operators={"A": Product(sizes), "M": _jacobi(sizes)},
        fuse=fuse,
        clock=clock,
    )
    recurrence = method.iterates(space)
    for iteration in range(iterations + 1):
        clock.iteration = iteration
        next(recurrence)
    clock.resolve()
    return DryRun(trace, _held(device, space, sizes))


class _Timeless(Trace):
    """Events of no length: when the host came to them says nothing."""

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        return super().add(kernel, 0.0, 0.0, iteration, after)


def _device(method: Solver, runtime: Nothing, sizes: Sizes, on: str, cut: Cut | None) -> Any:
    if not method.needs_accelerator:
        return Side(runtime, accelerator=on == ACCELERATOR)
    if method.name != "hybrid3":
        return Pair(runtime)
    if cut is None:
        raise InputError("hybrid3 shares out the rows: give the cut, as `analysis.cuts` makes it")
    if not 0 < cut.rows < sizes.size:
        raise InputError(f"hybrid3 needs rows on both sides, got {cut.rows} of {sizes.size} on the cores")
    return Split(runtime, sizes, cut)


def _jacobi(sizes: Sizes) -> ElementWise:
    if sizes.constant_diagonal:
        return ElementWise("0.5*v", {})
    return ElementWise("d*v", {"d": Unfilled(sizes.size, sizes.dtype)})


def _held(device: Any, space: Any, sizes: Sizes) -> int:
    """Bytes of matrix and vectors on the accelerator; where it has all rows, of the driver's residual too."""
    if isinstance(device, Split):
        index, item, rows = sizes.index, sizes.dtype.itemsize, sizes.size - device.cut.rows
        matrix = (sizes.entries - device.cut.entries) * (item + index) + 3 * rows * index
        return matrix + device.cut.rows * item + sum(vector.nbytes for vector in space.far.vectors.values())
    if not device.accelerator:
        return 0
    return sizes.nbytes + sizes.size * sizes.dtype.itemsize + sum(vector.nbytes for vector in space.vectors.values())
