"""Modelled time per iteration of CG and pipelined CG on cores, on an accelerator, and in the three hybrid schedules.

A dry run gives the kernels and copies of a solver's own recurrence, for a system of any size, without computing.
"""

from __future__ import annotations

import dataclasses
import functools

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.launcher import USABLE
from workbench.devices.dry_run import ITERATIONS, Cut, Sizes, cut_for_share, execute, steady_seconds
from workbench.devices.pair import SplitWorkspace
from workbench.devices.pair.decomposition import POINTERS
from workbench.devices.programs.workspace import Workspace
from workbench.errors import InputError
from workbench.lines.schedule import Step
from workbench.machines.profile import Profile
from workbench.machines.retime import Machine, retime
from workbench.records.trace import DRY_RUN, Trace
from workbench.registry import blocks as registry
from workbench.solvers import Solver
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.words.names import name_of, sentence_case


def balanced_share(cores: Profile, accelerator: Profile) -> float:
    """The accelerator's share of the non-zeros that balances the matrix-vector products, by memory bandwidths.

    Source: Tiwari, Vadhiyar 2021, section IV-C.1, with bandwidths in place of measured products.
    """
    remote, local = accelerator.bandwidth.value, cores.bandwidth.value
    return remote / (remote + local)


def largest_share(sizes: Sizes, memory: float) -> float:
    """The largest share of the rows, 0 to 1, that fits the usable 90% of an accelerator's memory in bytes.

    Counts the same arrays as `devices.pair.decomposition.bytes_needed`, for rows of equal length.
    """
    item, index = sizes.dtype.itemsize, sizes.index
    all_rows = sizes.entries * (item + index) + sizes.size * (POINTERS * index + Hybrid3.vectors * item)
    # The accelerator also stores the cores' part of one vector.
    received = sizes.size * item
    return min(1.0, max(0.0, (USABLE * memory - received) / (all_rows - received)))


def box_cut(n: int, planes: int) -> Cut:
    """The exact split of the 125-point operator on n^3 cells, with `planes` planes on the cores.

    A cut between planes separates three pairs of coupled planes, each with (5n - 6)^2 entries on either side. Raises
    InputError if a side would have fewer than two planes.
    """
    if not 2 <= planes <= n - 2:
        raise InputError(f"a cut of {n} planes must leave at least two on either side, got {planes}")
    entries = (5 * n - 6) ** 2
    # Planes 0 and 1 are coupled to three and four planes, the others on this side to five.
    return Cut(planes * n * n, (5 * planes - 3) * entries, 3 * entries, 2 * n * n)


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
    method = Solver.named(solver)
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
    method = Solver.named(solver)
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


@dataclasses.dataclass(frozen=True)
class Method:
    """A solver and its device, as in `dry_run`; fuse: fused passes, or one pass per line as in vector libraries."""

    solver: str | Solver
    on: str
    fuse: bool = True

    @property
    def label(self) -> str:
        """The solver, and where it runs if that is one device."""
        name = sentence_case(name_of("solver", self.name))
        return name if self.name.startswith("hybrid") else f"{name} on the {self.on}"

    @property
    def name(self) -> str:
        """The name of the solver."""
        return self.solver if isinstance(self.solver, str) else self.solver.name


METHODS = {
    "cg cpu": Method("cg", CORES),
    "pipecg cpu": Method("pipecg", CORES),
    "cg gpu": Method("cg", ACCELERATOR),
    "pipecg gpu": Method("pipecg", ACCELERATOR),
    "hybrid1": Method("hybrid1", ACCELERATOR),
    "hybrid2": Method("hybrid2", ACCELERATOR),
    "hybrid3": Method("hybrid3", ACCELERATOR),
}
LIBRARY = {
    "cg cpu": Method("cg", CORES, fuse=False),
    "pipecg cpu": Method("pipecg", CORES, fuse=False),
    "cg gpu": Method("cg", ACCELERATOR, fuse=False),
    "pipecg gpu": Method("pipecg", ACCELERATOR, fuse=False),
}
"""The methods on one device with one pass per line, as with a library of vector operations."""


def usable_memory(machine: Machine) -> float:
    """Usable bytes of the accelerator's memory; infinite if the profile does not state its size."""
    found = machine.accelerator.memory_bytes
    return USABLE * found.value if found else float("inf")


@dataclasses.dataclass(frozen=True)
class Expected:
    """Seconds of one iteration and the `modelled` trace; both None, with a reason `why`, if it does not fit."""

    seconds: float | None
    why: str = ""
    trace: Trace | None = None


@functools.lru_cache(maxsize=4096)
def cached_dry_run(method: Method, sizes: Sizes, cut: Cut | None) -> DryRun:
    """A cached dry run: apart from the cut it does not depend on the machine."""
    return dry_run(method.solver, sizes, method.on, cut, fuse=method.fuse)


def expected(
    method: str | Method, sizes: Sizes, machine: Machine, *, share: float | None = None, cut: Cut | None = None
) -> Expected:
    """The modelled time of one iteration on a machine, from bytes, bandwidths and latencies.

    share: the accelerator's share of the rows in hybrid3, by default in proportion to the bandwidths; it is limited to
    what fits. cut: the complete row split, in place of a share. Raises InputError for an unknown method and for
    profiles without a bandwidth.
    """
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(f"a method is one of {', '.join(METHODS)}, got {method!r}")
        method = METHODS[method]
    memory = usable_memory(machine)
    if method.name.startswith("hybrid3") and cut is None:
        requested = balanced_share(machine.cores, machine.accelerator) if share is None else share
        fits = largest_share(sizes, memory / USABLE)
        try:
            cut = cut_for_share(sizes, min(requested, fits))
        except InputError as error:
            return Expected(None, str(error))
    made = cached_dry_run(method, sizes, cut)
    if made.device_bytes > memory:
        needs, has = made.device_bytes / 1e9, memory / 1e9
        return Expected(None, f"needs {needs:.3g} GB on the accelerator, which has {has:.3g} GB usable")
    trace = retime(made.trace, machine.cores, machine.accelerator)
    return Expected(per_iteration(trace), trace=trace)


def all_expected(sizes: Sizes, machine: Machine) -> dict[str, Expected]:
    """Modelled times of every method in METHODS, by name."""
    return {name: expected(name, sizes, machine) for name in METHODS}


def fastest(found: dict[str, Expected]) -> str:
    """The name of the method with the shortest iteration."""
    return min((name for name in found if found[name].seconds is not None), key=lambda name: found[name].seconds or 0)


def per_iteration(trace: Trace) -> float:
    """Seconds of an iteration in the steady state of a modelled trace."""
    return steady_seconds(trace.column("iteration"), trace.column("end"))
