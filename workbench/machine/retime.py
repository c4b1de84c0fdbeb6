"""What a run would take on another machine: its trace, scheduled again with that machine's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from workbench.devices.clock import ACCELERATOR, LANES, TO_DEVICE, TO_HOST
from workbench.errors import InputError
from workbench.machine.profile import Number, Profile

Rescheduled = TypeVar("Rescheduled", covariant=True)
MODELLED = "modelled"
REHEARSED = "rehearsed"
"""Of a trace whose events have no times of their own; what states no bytes then counts nothing, as its notes say."""
TIMES_CACHE = 4
"""A kernel that moves less than this many times the last-level cache may find a part of its vectors there."""
COPIES = {TO_DEVICE: "to_device", TO_HOST: "to_host"}


class Trace(Protocol[Rescheduled]):
    """What is asked of a trace; `recording.Trace` is one."""

    kernels: list[Any]
    label: str
    notes: list[str]

    def rescheduled(
        self, seconds: Callable[[Any], float], machine: str, label: str, notes: Sequence[str] = ()
    ) -> Rescheduled:
        """The same events with other lengths, in order in each lane and after what they waited for."""
        ...


def retime(trace: Trace[Rescheduled], profile: Profile, accelerator: Profile | None = None) -> Rescheduled:
    """The trace as modelled on a machine: an event takes latency + max(bytes/bandwidth, flops/peak).

    profile: of what ran on the cores, and of everything when `accelerator` is not given; accelerator: of what ran on
    the accelerator and of the copies. An event that states neither bytes nor operations keeps its measured time.
    What the model leaves out stands in the notes of the trace that is returned. Raises InputError when a profile lacks
    a bandwidth that an event needs, and for a trace that is modelled itself.
    """
    if trace.label == MODELLED:
        raise InputError("the trace is modelled already; retime the measured one that it was made from")
    second = accelerator or profile
    model = _Model(profile, second)
    used = {kernel.lane for kernel in trace.kernels}
    title = profile.title
    if accelerator and used - {LANES[0]}:
        title = f"{profile.title} with {accelerator.title}"
    return trace.rescheduled(model.seconds, title, MODELLED, model.notes(trace))


def compare(trace: Any, modelled: Any) -> list[dict[str, Any]]:
    """Rows of lane, seconds given, seconds modelled and their ratio, one per lane at work and one for the total.

    The total of a lane is the time it was busy; that of the run goes from the first start to the last end, and holds
    what the host did between kernels only where it was measured.
    """
    given, wanted = trace.busy(), modelled.busy()
    pairs = {lane: (given[lane], wanted[lane]) for lane in given} | {"total": (trace.seconds, modelled.seconds)}
    return [
        {"lane": lane, trace.label: before, MODELLED: after, "ratio": after / before if before > 0 else None}
        for lane, (before, after) in pairs.items()
    ]


class _Model:
    """Seconds of an event on one profile or two."""

    def __init__(self, profile: Profile, accelerator: Profile) -> None:
        self._of = {lane: accelerator if lane in (ACCELERATOR, *COPIES) else profile for lane in LANES}

    def seconds(self, event: Any) -> float:
        if not event.bytes and not event.flops:
            return event.seconds
        bandwidth, latency, peak = self._numbers(event.lane)
        moving = event.bytes / bandwidth.value
        computing = event.flops / peak.value if peak else 0.0
        return (latency.value if latency else 0.0) + max(moving, computing)

    def notes(self, trace: Trace[Any]) -> list[str]:
        """Sentences on what the profiles could not tell."""
        rehearsed = trace.label == REHEARSED
        notes: dict[str, None] = dict.fromkeys(trace.notes if rehearsed else ())
        for kernel in trace.kernels:
            if not kernel.bytes and not kernel.flops:
                if not rehearsed:
                    notes[f"{kernel.name} states no bytes: it keeps its {trace.label} time"] = None
                continue
            profile = self._of[kernel.lane]
            name = profile.name
            bandwidth, latency, _ = self._numbers(kernel.lane)
            if (
                profile.cache_bytes
                and kernel.lane not in COPIES
                and kernel.bytes < TIMES_CACHE * profile.cache_bytes.value
            ):
                notes[
                    f"kernels move less than {TIMES_CACHE} times the cache of {name}, which may be faster than memory"
                ] = None
            what = f"{kernel.lane} bandwidth" if kernel.lane in COPIES else "memory bandwidth"
            if bandwidth.basis == "nominal":
                notes[f"the {what} of {name} is nominal, which kernels do not reach: times are a lower bound"] = None
            if bandwidth.basis == "assumed":
                notes[f"the {what} of {name} is {bandwidth.source}"] = None
            if latency is None:
                cost = "latency of a copy" if kernel.lane in COPIES else "cost of a launch"
                notes[f"the profile {name} does not say the {cost}: it counts as zero, times are a lower bound"] = None
        return list(notes)

    def _numbers(self, lane: str) -> tuple[Number, Number | None, Number | None]:
        """Bandwidth, latency and peak that hold on a lane."""
        profile = self._of[lane]
        if lane not in COPIES:
            return profile.bandwidth, profile.launch_latency, profile.flops
        if profile.kind == "cpu":
            raise InputError(
                f"the trace copies between host and accelerator, and {profile.name} is a CPU; name an accelerator too"
            )
        way = COPIES[lane]
        return profile.needed(f"{way}_bandwidth"), getattr(profile, f"{way}_latency"), None
