"""Retiming: model a trace on another machine by rescheduling its events with that machine's profile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, is_worker, side_of
from workbench.errors import InputError
from workbench.machines.profile import Number, Profile

__all__ = ["compare", "machines_for", "retime"]

Rescheduled = TypeVar("Rescheduled", covariant=True)
MODELLED = "modelled"
DRY_RUN = "dry run"
"""The label of dry runs, whose events have no times; there, events without bytes and operations take no time."""
TIMES_CACHE = 4
"""Kernels that move less than this multiple of the last-level cache may be served partly from cache."""
COPIES = (TO_DEVICE, TO_HOST)


class Kernel(Protocol):
    """A kernel or copy, as `records.trace.Kernel` and events of it are."""

    @property
    def name(self) -> str: ...
    @property
    def lane(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def flops(self) -> int: ...


class Event(Kernel, Protocol):
    """A call of a kernel or copy, as `records.trace.Event` is."""

    @property
    def seconds(self) -> float: ...


class Listed(Protocol):
    """The kernels of a trace, and how it is described."""

    @property
    def kernels(self) -> Sequence[Kernel]: ...
    @property
    def label(self) -> str: ...
    @property
    def notes(self) -> Sequence[str]: ...


class Trace(Listed, Protocol[Rescheduled]):
    """The protocol of a trace, implemented by `records.trace.Trace`."""

    def rescheduled(
        self, seconds: Callable[[Event], float], machine: str, label: str, notes: Sequence[str] = ()
    ) -> Rescheduled:
        """The events with other durations, in order within each lane and after their dependencies."""
        ...


class Timed(Protocol):
    """The times of a trace."""

    @property
    def label(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    def busy(self) -> dict[str, float]:
        """Busy seconds by lane."""
        ...


@dataclasses.dataclass(frozen=True)
class Machine:
    """Profiles of the cores, and of an accelerator with its link: the numbers of each lane."""

    cores: Profile
    accelerator: Profile

    def of(self, lane: str) -> Profile:
        """The profile of a lane."""
        return self.accelerator if side_of(lane) in (ACCELERATOR, *COPIES) else self.cores

    def numbers(self, lane: str) -> tuple[Number, Number | None, Number | None]:
        """Bandwidth, latency and peak operation rate of a lane. Raises InputError where it has no bandwidth."""
        profile, side = self.of(lane), side_of(lane)
        if side not in COPIES:
            return profile.bandwidth, profile.launch_latency, profile.flops
        if profile.kind == "cpu":
            raise InputError(
                f"the trace has copies between host and accelerator, and {profile.name} is a CPU; add an accelerator"
            )
        if side == TO_HOST:
            return profile.required("to_host_bandwidth"), profile.to_host_latency, None
        return profile.required("to_device_bandwidth"), profile.to_device_latency, None

    def seconds(self, event: Event) -> float:
        """The duration of an event here. Those of workers, and those without bytes and operations, keep theirs."""
        if is_worker(event.lane) or (not event.bytes and not event.flops):
            return event.seconds
        bandwidth, latency, peak = self.numbers(event.lane)
        transfer = event.bytes / bandwidth.value
        arithmetic = event.flops / peak.value if peak else 0.0
        return (latency.value if latency else 0.0) + max(transfer, arithmetic)


def retime(trace: Trace[Rescheduled], profile: Profile, accelerator: Profile | None = None) -> Rescheduled:
    """The trace as modelled on a machine, where an event takes latency + max(bytes/bandwidth, flops/peak).

    profile: for events on the cores, and for all events without `accelerator`. accelerator: for events on the
    accelerator and for copies. Events without bytes and operations, and those of workers, keep their measured time. The
    notes of the returned trace list what the model does not cover.

    Raises InputError if a profile lacks a required bandwidth, and for a trace that is modelled itself.

    Examples:
        >>> from workbench.machines.profile import profile
        >>> from workbench.machines.retime import retime
        >>> from workbench.run import Run, configure, run_through
        >>> trace = run_through(Run(configure("two-layer", n=16), trace=True)).trace
        >>> retime(trace, profile("k20m")).label
        'modelled'
    """
    if trace.label == MODELLED:
        raise InputError("the trace is modelled already; retime the measured trace from which it was made")
    machine = Machine(profile, accelerator or profile)
    used = {side_of(kernel.lane) for kernel in trace.kernels}
    title = profile.title
    if accelerator and used & {ACCELERATOR, *COPIES}:
        title = f"{profile.title} with {accelerator.title}"
    return trace.rescheduled(machine.seconds, title, MODELLED, _notes(machine, trace))


def machines_for(lanes: Iterable[str], known: Sequence[Profile]) -> tuple[list[Profile], list[Profile]]:
    """The machines that a trace with events on these lanes can be modelled on, and the accelerators next to them.

    With events both on the cores and on an accelerator these are CPUs and GPUs, one of each to be chosen; else every
    machine with the numbers that the events need, and no accelerator.

    Examples:
        >>> from workbench.machines.profile import profiles
        >>> from workbench.machines.retime import machines_for
        >>> cores, accelerators = machines_for(["cpu", "accelerator"], list(profiles().values()))
        >>> {one.kind for one in cores}, {one.kind for one in accelerators}
        ({'cpu'}, {'gpu'})
    """
    own = {side_of(lane) for lane in lanes if not is_worker(lane)}
    fitting = [one for one in known if all(_has_numbers(one, lane) for lane in own & {ACCELERATOR, *COPIES})]
    if CPU in own and len(own) > 1:
        return [one for one in known if one.kind == "cpu"], [one for one in fitting if one.kind == "gpu"]
    return fitting, []


def _has_numbers(profile: Profile, lane: str) -> bool:
    try:
        Machine(profile, profile).numbers(lane)
    except InputError:
        return False
    return True


def compare(trace: Timed, modelled: Timed) -> list[dict[str, Any]]:
    """Rows of lane, original seconds, modelled seconds and their ratio, one per active lane and one for the total.

    The seconds of a lane are its busy time. The total is the time from the first start to the last end; it includes
    host work between kernels only if that was measured.

    Examples:
        >>> from workbench.machines.profile import profile
        >>> from workbench.machines.retime import compare, retime
        >>> from workbench.run import Run, configure, run_through
        >>> trace = run_through(Run(configure("two-layer", n=16), trace=True)).trace
        >>> [row["lane"] for row in compare(trace, retime(trace, profile("k20m")))]
        ['cpu', 'total']
    """
    original, model = trace.busy(), modelled.busy()
    pairs = {lane: (original[lane], model[lane]) for lane in original} | {"total": (trace.seconds, modelled.seconds)}
    return [
        {"lane": lane, trace.label: before, MODELLED: after, "ratio": after / before if before > 0 else None}
        for lane, (before, after) in pairs.items()
    ]


def _notes(machine: Machine, trace: Listed) -> list[str]:
    """Sentences on the limits of the model, each once."""
    is_dry_run = trace.label == DRY_RUN
    notes: dict[str, None] = dict.fromkeys(trace.notes if is_dry_run else ())
    for kernel in trace.kernels:
        if is_worker(kernel.lane):
            notes[f"workers are not modelled: what they did keeps its {trace.label} time"] = None
        elif kernel.bytes or kernel.flops:
            notes |= dict.fromkeys(_notes_on(machine, kernel))
        elif not is_dry_run:
            notes[f"{kernel.name}: bytes unknown, {trace.label} time kept"] = None
    return list(notes)


def _notes_on(machine: Machine, kernel: Kernel) -> Iterator[str]:
    profile, is_copy = machine.of(kernel.lane), side_of(kernel.lane) in COPIES
    name = profile.name
    bandwidth, latency, _ = machine.numbers(kernel.lane)
    if profile.cache_bytes and not is_copy and kernel.bytes < TIMES_CACHE * profile.cache_bytes.value:
        yield f"kernels move less than {TIMES_CACHE} times the cache of {name}, which may be faster than memory"
    what = f"{side_of(kernel.lane)} bandwidth" if is_copy else "memory bandwidth"
    if bandwidth.basis == "nominal":
        yield f"the {what} of {name} is nominal, which kernels do not reach: times are a lower bound"
    if bandwidth.basis == "assumed":
        yield f"the {what} of {name} is {bandwidth.source}"
    if latency is None:
        cost = "latency of a copy" if is_copy else "launch latency"
        yield f"the profile {name} has no {cost}: it is taken as zero, so times are a lower bound"
