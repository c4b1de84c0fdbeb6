"""Comparison of the traces on one timeline: machines, totals, and a trace modelled on another machine."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.machines.describe import machine_line
from workbench.machines.profile import Profile
from workbench.models.retime import retime
from workbench.records import Trace
from workbench.words.numbers import count, duration, number

IN_MODEL = "What the host does between kernels is not in the model."


def modelled(trace: Trace, profile: Profile, accelerator: Profile | None = None, name: str = "") -> tuple[Trace, str]:
    """The trace on a machine, and both totals in words with the limits of the model. profile, accelerator: as in
    `retime`, which says what is raised. name: of the run, where there are several. Cost: some microseconds an event."""
    made = retime(trace, profile, accelerator)
    notes = (f"{note[0].upper()}{note[1:]}." for note in made.notes)
    titles = f"{name}, {trace.label}".removeprefix(", ") + f", {where(trace)}", f"{made.label}, {made.machine}"
    return made, " ".join([totals([(titles[0], trace), (titles[1], made)]), IN_MODEL, *notes])


def where(trace: Trace) -> str:
    """The machine of a trace in words."""
    return "this machine" if trace.machine == machine_line() else trace.machine or "a machine that is not named"


def totals(named: Sequence[tuple[str, Trace]]) -> str:
    """The total of each trace from the first start to the last end and that of its kernels, and the ratios to the
    first; iterations where their numbers differ."""
    (title, first), *others = named
    at_work = sum(first.busy().values())
    if not (at_work and all(one.seconds for _, one in named)):
        return f"{title}: no time to compare with."
    made = [int(one.column("iteration").max()) for _, one in named]
    steps = [f" for {count(each)} iterations" if len({*made}) > 1 else "" for each in made]
    said = [f"{title}: {duration(first.seconds)}{steps[0]}, of which kernels {duration(at_work)}"]
    for (name, one), step in zip(others, steps[1:], strict=True):
        alone = sum(one.busy().values()) / at_work
        ratio = one.seconds / first.seconds
        said.append(f"{name}: {duration(one.seconds)}{step}, {_times(ratio)}, kernels alone {_times(alone)}")
    return "; ".join(said) + "."


def _times(ratio: float) -> str:
    return f"{number(1 / ratio)} times as fast" if ratio < 1 else f"{number(ratio)} times as long"
