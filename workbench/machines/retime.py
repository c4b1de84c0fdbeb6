"""Retiming: model a trace on another machine by rescheduling its events with that machine's profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, is_worker
from workbench.errors import InputError
from workbench.machines.profile import Number, Profile

__all__ = ["compare", "machines_for", "retime"]

Rescheduled = TypeVar("Rescheduled", covariant=True)
MODELLED = "modelled"
DRY_RUN = "dry run"
"""The label of dry runs, whose events have no times; there, events without bytes and operations take no time."""
TIMES_CACHE = 4
"""Kernels that move less than this multiple of the last-level cache may be served partly from cache."""
COPIES = {TO_DEVICE: "to_device", TO_HOST: "to_host"}


class Trace(Protocol[Rescheduled]):
    """The protocol of a trace, implemented by `recording.Trace`."""

    kernels: list[Any]
    label: str
    notes: list[str]

    def rescheduled(
        self, seconds: Callable[[Any], float], machine: str, label: str, notes: Sequence[str] = ()
    ) -> Rescheduled:
        """The events with other durations, in order within each lane and after their dependencies."""
        ...


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
    model = _Model(profile, accelerator or profile)
    used = {kernel.lane for kernel in trace.kernels}
    title = profile.title
    if accelerator and used & {ACCELERATOR, *COPIES}:
        title = f"{profile.title} with {accelerator.title}"
    return trace.rescheduled(model.seconds, title, MODELLED, model.notes(trace))


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
    own = {lane for lane in lanes if not is_worker(lane)}
    fitting = [one for one in known if all(_has_numbers(one, lane) for lane in own & {ACCELERATOR, *COPIES})]
    if CPU in own and len(own) > 1:
        return [one for one in known if one.kind == "cpu"], [one for one in fitting if one.kind == "gpu"]
    return fitting, []


def _has_numbers(profile: Profile, lane: str) -> bool:
    try:
        _Model(profile, profile).numbers(lane)
    except InputError:
        return False
    return True


def compare(trace: Any, modelled: Any) -> list[dict[str, Any]]:
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


class _Model:
    """Durations of events on one or two profiles."""

    def __init__(self, profile: Profile, accelerator: Profile) -> None:
        self._profile, self._accelerator = profile, accelerator

    def _of(self, lane: str) -> Profile:
        """The machine of a lane."""
        return self._accelerator if lane in (ACCELERATOR, *COPIES) else self._profile

    def seconds(self, event: Any) -> float:
        if is_worker(event.lane) or (not event.bytes and not event.flops):
            return event.seconds
        bandwidth, latency, peak = self.numbers(event.lane)
        transfer = event.bytes / bandwidth.value
        arithmetic = event.flops / peak.value if peak else 0.0
        return (latency.value if latency else 0.0) + max(transfer, arithmetic)

    def notes(self, trace: Trace[Any]) -> list[str]:
        """Sentences on the limits of the model, each once."""
        is_dry_run = trace.label == DRY_RUN
        notes: dict[str, None] = dict.fromkeys(trace.notes if is_dry_run else ())
        for kernel in trace.kernels:
            if is_worker(kernel.lane):
                notes[f"workers are not modelled: what they did keeps its {trace.label} time"] = None
            elif kernel.bytes or kernel.flops:
                notes |= dict.fromkeys(self._notes_on(kernel))
            elif not is_dry_run:
                notes[f"{kernel.name} states no bytes: it keeps its {trace.label} time"] = None
        return list(notes)

    def _notes_on(self, kernel: Any) -> Iterator[str]:
        profile, is_copy = self._of(kernel.lane), kernel.lane in COPIES
        name = profile.name
        bandwidth, latency, _ = self.numbers(kernel.lane)
        if profile.cache_bytes and not is_copy and kernel.bytes < TIMES_CACHE * profile.cache_bytes.value:
            yield f"kernels move less than {TIMES_CACHE} times the cache of {name}, which may be faster than memory"
        what = f"{kernel.lane} bandwidth" if is_copy else "memory bandwidth"
        if bandwidth.basis == "nominal":
            yield f"the {what} of {name} is nominal, which kernels do not reach: times are a lower bound"
        if bandwidth.basis == "assumed":
            yield f"the {what} of {name} is {bandwidth.source}"
        if latency is None:
            cost = "latency of a copy" if is_copy else "launch latency"
            yield f"the profile {name} has no {cost}: it is taken as zero, so times are a lower bound"

    def numbers(self, lane: str) -> tuple[Number, Number | None, Number | None]:
        """Bandwidth, latency and peak operation rate for a lane."""
        profile = self._of(lane)
        if lane not in COPIES:
            return profile.bandwidth, profile.launch_latency, profile.flops
        if profile.kind == "cpu":
            raise InputError(
                f"the trace has copies between host and accelerator, and {profile.name} is a CPU; add an accelerator"
            )
        direction = COPIES[lane]
        return profile.required(f"{direction}_bandwidth"), getattr(profile, f"{direction}_latency"), None
