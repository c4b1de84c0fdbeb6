"""A trace compared with what it would be on another machine: events of both in one stream, and both totals in words."""

from __future__ import annotations

import numpy as np

from workbench.machine.describe import machine_line
from workbench.machine.profile import Profile
from workbench.machine.retime import compare, retime
from workbench.number_text import duration, number
from workbench.recording import Trace
from workbench.recording.trace import Kernel


class Comparison:
    """The events of a trace, and after them those of the same trace on a machine, from the same start on.

    profile, accelerator: as in `retime`. kernels from `own` on are those of the machine. titles: of the two sets of
    lanes. Cost: some microseconds an event. Raises InputError where a profile lacks a number that the trace needs, and
    for a trace that is modelled.
    """

    def __init__(self, trace: Trace, profile: Profile, accelerator: Profile | None = None) -> None:
        made = retime(trace, profile, accelerator)
        rows, modelled = trace.rows, made.rows.copy()
        if rows.size:
            ahead = rows["start"].min() - modelled["start"].min()
            modelled["start"] += ahead
            modelled["end"] += ahead
        self.own = len(trace.kernels)
        modelled["kernel"] += self.own
        self.rows = np.concatenate([rows, modelled])
        self._waits = np.concatenate([trace.waits(), made.waits() + trace.count])
        self.kernels: list[Kernel] = [*trace.kernels, *made.kernels]
        self.titles = (f"{trace.label}, {_where(trace)}", f"{made.label}, {made.machine}")
        self.notes = tuple(made.notes)
        self.sentence = _totals(trace, made, self.titles)

    @property
    def count(self) -> int:
        """Events of both."""
        return self.rows.size

    def waits(self, first: int, last: int) -> np.ndarray:
        """As `Trace.waits`, of both."""
        return self._waits[(self._waits[:, 0] >= first) & (self._waits[:, 0] < last)]


def _where(trace: Trace) -> str:
    return "this machine" if trace.machine == machine_line() else trace.machine or "a machine that is not named"


def _totals(trace: Trace, made: Trace, titles: tuple[str, str]) -> str:
    """Both totals from the first start to the last end, those of the kernels, and their ratios."""
    *_, total = compare(trace, made)
    if not total["ratio"]:
        return f"{titles[0]}: no time to compare with."
    at_work, wanted = (sum(one.busy().values()) for one in (trace, made))
    return (
        f"{titles[0]}: {duration(trace.seconds)}, of which kernels {duration(at_work)}; "
        f"{titles[1]}: {duration(made.seconds)}, {_times(total['ratio'])}, kernels alone {_times(wanted / at_work)}. "
        "What the host does between kernels is not in the model."
    )


def _times(ratio: float) -> str:
    return f"{number(1 / ratio)} times as fast" if ratio < 1 else f"{number(ratio)} times as long"
