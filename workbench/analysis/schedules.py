"""The seven ways to run CG and pipelined CG on cores and an accelerator, as modelled on machines of one's choice."""

from __future__ import annotations

import dataclasses
import functools

from workbench.analysis.cuts import cut_by, fitting_share, share_of
from workbench.analysis.dry_run import ACCELERATOR, CORES, ITERATIONS, DryRun, rehearse
from workbench.devices.accelerator.budget import USABLE
from workbench.devices.dry_run import Cut, Sizes
from workbench.errors import InputError
from workbench.machine.profile import Profile
from workbench.machine.retime import retime
from workbench.recording.trace import Trace


@dataclasses.dataclass(frozen=True)
class Method:
    """solver: as in `rehearse`; on: where; fuse: many lines a sweep, or each for itself as libraries do it."""

    solver: str
    on: str
    fuse: bool = True


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
"""The first four with a sweep for every line, as a library of vector operations runs them."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """Cores and an accelerator with its link, by their profiles."""

    cores: Profile
    accelerator: Profile

    @property
    def memory(self) -> float:
        """Bytes that a run may have on the accelerator; infinite where the profile does not say."""
        found = self.accelerator.memory_bytes
        return USABLE * found.value if found else float("inf")


@dataclasses.dataclass(frozen=True)
class Expected:
    """seconds: of one iteration, None where the system does not fit. why: then, in words. trace: `modelled`."""

    seconds: float | None
    why: str = ""
    trace: Trace | None = None


@functools.lru_cache(maxsize=4096)
def rehearsed(method: Method, sizes: Sizes, cut: Cut | None) -> DryRun:
    """A rehearsal, kept: it does not depend on the machine, but for the cut."""
    return rehearse(method.solver, sizes, method.on, cut, fuse=method.fuse)


def expected(
    method: str | Method, sizes: Sizes, machine: Machine, *, share: float | None = None, cut: Cut | None = None
) -> Expected:
    """What an iteration takes on a machine by its bytes, bandwidths and latencies.

    share: the accelerator's part of the rows in hybrid3; by default by the bandwidths, and never more than fits. cut:
    the same with all numbers. Raises InputError for an unknown method and where the profiles lack a bandwidth.
    """
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(f"a method is one of {', '.join(METHODS)}, got {method!r}")
        method = METHODS[method]
    if method.solver.startswith("hybrid3") and cut is None:
        wanted = share_of(machine.cores, machine.accelerator) if share is None else share
        fits = fitting_share(sizes, machine.memory / USABLE)
        try:
            cut = cut_by(sizes, min(wanted, fits))
        except InputError as sentence:
            return Expected(None, str(sentence))
    found = rehearsed(method, sizes, cut)
    if found.held > machine.memory:
        needs, has = found.held / 1e9, machine.memory / 1e9
        return Expected(None, f"needs {needs:.3g} GB of the accelerator, which has {has:.3g} to give")
    trace = retime(found.trace, machine.cores, machine.accelerator)
    return Expected(per_iteration(trace), trace=trace)


def all_expected(sizes: Sizes, machine: Machine) -> dict[str, Expected]:
    """Every method of METHODS."""
    return {name: expected(name, sizes, machine) for name in METHODS}


def best(found: dict[str, Expected]) -> str:
    """The method that takes least."""
    return min((name for name in found if found[name].seconds is not None), key=lambda name: found[name].seconds or 0)


def window(trace: Trace, first: int, last: int) -> Trace:
    """What goes on from the beginning of one iteration to the end of another, as a trace that starts at 0.

    What is under way when it begins is shown whole; what events waited for before is left out.
    """
    begun, ended = (_begin(trace, iteration) for iteration in (first, last + 1))
    shown = [
        (place, event)
        for place, event in enumerate(trace)
        if event.start < ended and (event.end > begun or event.start >= begun)
    ]
    origin = min((event.start for _, event in shown), default=0.0)
    made, places = Trace(trace.machine, trace.label, trace.notes), {}
    for place, event in shown:
        after = tuple(places[waited] for waited in event.after if waited in places)
        moved = dataclasses.replace(event, start=event.start - origin, end=event.end - origin, after=after)
        places[place] = made.append(moved)
    return made


def _begin(trace: Trace, iteration: int) -> float:
    """When the first event of an iteration starts; infinite where there is none."""
    rows = trace.rows
    return float(rows["start"][rows["iteration"] == iteration].min(initial=float("inf")))


def per_iteration(trace: Trace) -> float:
    """Seconds from the end of one iteration to that of the next, over the second half of a modelled trace.

    An even number of them, since two vectors take turns in hybrid 2.
    """
    rows = trace.rows
    last = int(rows["iteration"].max())
    middle = last - max(1, min(ITERATIONS, last) // 2)

    def over(iteration: int) -> float:
        return float(rows["end"][rows["iteration"] <= iteration].max())

    return (over(last) - over(middle)) / (last - middle)
