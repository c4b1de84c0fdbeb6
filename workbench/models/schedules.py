"""Modelled time per iteration of CG and pipelined CG on cores, on an accelerator, and in the three hybrid schedules."""

from __future__ import annotations

import dataclasses
import functools

from workbench.devices.accelerator.budget import USABLE
from workbench.devices.dry_run import Cut, Sizes, cut_for_share, steady_seconds
from workbench.errors import InputError
from workbench.machines.profile import Profile
from workbench.models.cuts import balanced_share, largest_share
from workbench.models.dry_run import ACCELERATOR, CORES, DryRun, dry_run
from workbench.models.retime import retime
from workbench.records.trace import Trace
from workbench.solvers import Solver
from workbench.words.names import name_of, sentence_case


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


@dataclasses.dataclass(frozen=True)
class Machine:
    """Profiles of the cores and of an accelerator with its link."""

    cores: Profile
    accelerator: Profile

    @property
    def memory(self) -> float:
        """Usable bytes of the accelerator's memory; infinite if the profile does not state its size."""
        found = self.accelerator.memory_bytes
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
    if method.name.startswith("hybrid3") and cut is None:
        requested = balanced_share(machine.cores, machine.accelerator) if share is None else share
        fits = largest_share(sizes, machine.memory / USABLE)
        try:
            cut = cut_for_share(sizes, min(requested, fits))
        except InputError as error:
            return Expected(None, str(error))
    made = cached_dry_run(method, sizes, cut)
    if made.device_bytes > machine.memory:
        needs, has = made.device_bytes / 1e9, machine.memory / 1e9
        return Expected(None, f"needs {needs:.3g} GB on the accelerator, which has {has:.3g} GB usable")
    trace = retime(made.trace, machine.cores, machine.accelerator)
    return Expected(per_iteration(trace), trace=trace)


def all_expected(sizes: Sizes, machine: Machine) -> dict[str, Expected]:
    """Modelled times of every method in METHODS, by name."""
    return {name: expected(name, sizes, machine) for name in METHODS}


def fastest(found: dict[str, Expected]) -> str:
    """The name of the method with the shortest iteration."""
    return min((name for name in found if found[name].seconds is not None), key=lambda name: found[name].seconds or 0)


def slice_iterations(trace: Trace, first: int, last: int) -> Trace:
    """The part of a trace from the start of iteration `first` to the end of iteration `last`, shifted to start at 0.

    Events in progress at the start are included completely. Dependencies on earlier events are dropped.
    """
    start, end = (_start_of(trace, iteration) for iteration in (first, last + 1))
    included = [
        (index, event)
        for index, event in enumerate(trace)
        if event.start < end and (event.end > start or event.start >= start)
    ]
    origin = min((event.start for _, event in included), default=0.0)
    part, new_index = Trace(trace.machine, trace.label, trace.notes), {}
    for index, event in included:
        after = tuple(new_index[earlier] for earlier in event.after if earlier in new_index)
        shifted = dataclasses.replace(event, start=event.start - origin, end=event.end - origin, after=after)
        new_index[index] = part.append(shifted)
    return part


def _start_of(trace: Trace, iteration: int) -> float:
    """The start of the first event of an iteration; infinite without events."""
    rows = trace.rows
    return float(rows["start"][rows["iteration"] == iteration].min(initial=float("inf")))


def per_iteration(trace: Trace) -> float:
    """Seconds of an iteration in the steady state of a modelled trace."""
    return steady_seconds(trace.column("iteration"), trace.column("end"))
