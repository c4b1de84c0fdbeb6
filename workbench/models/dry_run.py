"""Dry runs: the kernels and copies of a solver's own recurrence, for a system of any size, without computing."""

from __future__ import annotations

import dataclasses
import functools
from typing import cast

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.dry_run import ITERATIONS, Cut, Sizes, execute
from workbench.devices.pair import SplitWorkspace
from workbench.devices.pair.decomposition import POINTERS
from workbench.devices.programs.workspace import Workspace
from workbench.errors import InputError
from workbench.lines.schedule import Step
from workbench.records.trace import DRY_RUN, Trace
from workbench.registry import blocks as registry
from workbench.solvers import Solver

CORES, ACCELERATOR = WHERE = ("cores", "accelerator")
NO_MACHINE = "no machine: nothing was computed"
NOTES = (
    "dry run: bytes and order of every kernel and copy, no times",
    "scalars, launches for scalars alone and host work between kernels are not counted",
)


@dataclasses.dataclass(frozen=True)
class DryRun:
    """A trace of zero-length events, labelled `dry run`, and the bytes of matrix and vectors on the accelerator."""

    trace: Trace
    device_bytes: int


def dry_run(
    solver: str | Solver,
    sizes: Sizes,
    on: str = ACCELERATOR,
    cut: Cut | None = None,
    *,
    iterations: int = ITERATIONS,
    fuse: bool = True,
) -> DryRun:
    """The events of the start and of `iterations` iterations of a method with Jacobi, without a matrix or a vector.

    solver: with its parameters, as in `hybrid2:fused=no`. on: where a method for one device runs; hybrid methods use
    both. cut: the row split, required for hybrid3. fuse: fuse as many lines per pass as the plan allows, or run one
    line per pass; for methods on one device only, since the hybrids have parameters of their own.

    Cost: planning the lines, a few milliseconds. Raises InputError for unknown names, and for solver `hybrid`, which
    only chooses among the schedules of other solvers.
    """
    method = cast(Solver, registry.as_block("solver", solver))
    if method.name == "hybrid":
        raise InputError("solver hybrid chooses among schedules; use hybrid1, hybrid2, hybrid3 or pipecg for a dry run")
    if on not in WHERE:
        raise InputError(registry.unknown_name("side", on, WHERE))
    if iterations < 1:
        raise InputError(f"a dry run needs at least 1 iteration, got {iterations}")
    cut = _checked_cut(cut, sizes) if method.name == "hybrid3" else None
    trace = _UntimedTrace(NO_MACHINE, DRY_RUN, NOTES)
    workspace = execute(method, sizes, trace, cores=on == CORES, cut=cut, iterations=iterations, fuse=fuse)
    return DryRun(trace, _device_bytes(workspace, sizes, cut))


@functools.lru_cache
def steps_of(solver: str | Solver) -> tuple[Step, ...]:
    """The steps of an iteration of a method for one device, with Jacobi.

    A dry run on the accelerator has an event there for each that launches a kernel, in this order.
    """
    method = cast(Solver, registry.as_block("solver", solver))
    workspace = execute(method, Sizes(2, 2), _UntimedTrace(NO_MACHINE, DRY_RUN), iterations=1)
    # A workspace keeps no program alive.
    recurrence = method.iterates(workspace)
    steps = workspace.programs[-1].steps
    del recurrence
    return steps


class _UntimedTrace(Trace):
    """A trace that sets all times to zero: the times at which the host issues events mean nothing in a dry run."""

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        return super().add(kernel, 0.0, 0.0, iteration, after)


def _checked_cut(cut: Cut | None, sizes: Sizes) -> Cut:
    if cut is None:
        raise InputError("hybrid3 splits the rows between two devices; pass a cut, as made by `analysis.cuts`")
    if not 0 < cut.rows < sizes.size:
        raise InputError(f"hybrid3 needs rows on both sides, got {cut.rows} of {sizes.size} on the cores")
    return cut


def _device_bytes(workspace: Workspace, sizes: Sizes, cut: Cut | None) -> int:
    """Bytes of matrix and vectors on the accelerator; if it has all rows, including the driver's residual vector."""
    if isinstance(workspace, SplitWorkspace) and cut:
        index, item, rows = sizes.index, sizes.dtype.itemsize, sizes.size - cut.rows
        matrix = (sizes.entries - cut.entries) * (item + index) + POINTERS * rows * index
        return matrix + cut.rows * item + sum(vector.nbytes for vector in workspace.far.vectors.values())
    if not isinstance(workspace.device, Accelerator):
        return 0
    vectors = sum(vector.nbytes for vector in workspace.vectors.values())
    return sizes.nbytes + sizes.size * sizes.dtype.itemsize + vectors
