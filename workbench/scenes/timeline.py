"""Kernels of a trace on lanes over time as a scene, and its parts for a page that draws them as they come."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from workbench.devices.clock import WAITING, is_worker, rank
from workbench.devices.cycle_names import level_of, summed_name
from workbench.errors import InputError
from workbench.naming import kernel_name, shortened
from workbench.number_text import amount, percent
from workbench.recording import Trace
from workbench.recording.trace import Kernel
from workbench.scenes.scene import Axis, Layer, LineAt, Scene
from workbench.scenes.style import KernelLooks

LONGEST_NAME = 44
MAX_BOXES = 4000
"""More boxes than pixel columns are not visible and make files slow to open."""
MOST_NUMBERS = 12
"""Iterations that have their numbers, about."""
ABOVE = 1.0
"""From the middle of the first lane to the top, which the numbers of iterations need."""


class Events(Protocol):
    """A trace, or two of them one after another."""

    @property
    def kernels(self) -> list[Kernel]: ...

    @property
    def rows(self) -> np.ndarray: ...

    def waits(self, first: int, last: int) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True)
class DrawnKernel:
    """A kernel as it is drawn. name: readable; code: that of the trace. rank: the place of its lane from the top.

    style: what is summed together has one, counted from 0, and one colour. level: of a coarse solve, "" for none.
    group: 0 for what was measured, 1 for the machine that it is compared with. idle: a worker waits.
    """

    name: str
    code: str
    lane: str
    bytes: int
    flops: int
    rank: int
    style: int
    colour: str
    level: str
    group: int
    worker: bool
    idle: bool


@dataclasses.dataclass(frozen=True, eq=False)
class LanesOf(Layer):
    """Boxes on lanes. rows: events, as `Trace.rows`; kernels: all that they may name.

    flows: what some of them wait for: the end of that, the start of the event, and both kernels, shape (k, 4).
    """

    layer, arrays = "lanes", ()

    kernels: Sequence[DrawnKernel]
    rows: np.ndarray
    flows: np.ndarray
    name: str = ""

    @property
    def used(self) -> list[DrawnKernel]:
        """The kernels of the events."""
        return [self.kernels[number] for number in np.unique(self.rows["kernel"])]

    @property
    def lanes(self) -> list[str]:
        """Those with events, from top to bottom."""
        return sorted({kernel.lane for kernel in self.used}, key=rank)

    @property
    def sums(self) -> dict[int, str]:
        """By style, the longest first: name, share of the busy time, and bytes over time; no share for waiting."""
        first = {kernel.style: kernel for kernel in reversed(self.used)}
        numbers, seconds = self.rows["kernel"], self.rows["end"] - self.rows["start"]
        styles = np.array([kernel.style for kernel in self.kernels])[numbers]
        spent = np.bincount(styles, seconds)
        moved = np.bincount(styles, np.array([kernel.bytes for kernel in self.kernels], float)[numbers])
        busy = sum(spent[style] for style, kernel in first.items() if not kernel.idle) or 1.0
        words = {}
        for style in sorted(first, key=lambda style: -spent[style]):
            kernel = first[style]
            name = shortened(kernel_name(summed_name(kernel.code)), LONGEST_NAME)
            rate = f", {amount(moved[style] / spent[style])}/s" if moved[style] and spent[style] > 0 else ""
            words[style] = name if kernel.idle else f"{name}: {percent(spent[style] / busy)}{rate}"
        return words

    def since(self, known: int) -> tuple[dict[str, Any], bytes]:
        """For a page that knows so many of the kernels.

        Columns one after another: starts as float64, lengths as float32, kernels and iterations as int32; then flows.
        """
        starts, rows = self.rows["start"], self.rows
        lengths = (rows["end"] - starts).astype("<f4")
        columns = starts.astype("<f8"), lengths, rows["kernel"].astype("<i4"), rows["iteration"].astype("<i4")
        new = [dataclasses.asdict(kernel) for kernel in self.kernels[known:]]
        said = {"count": int(rows.size), "flows": len(self.flows), "firstKernel": known, "kernels": new}
        return said, b"".join(column.tobytes() for column in (*columns, self.flows.astype("<f8")))


class GrowingLanes:
    """The events of a trace that may grow, whose kernels look the same in every part and on every machine.

    own: kernels from this number on are those of the machine that it is compared with.
    """

    def __init__(self, events: Events, own: int | None = None) -> None:
        self.events, self._own = events, own
        self._looks = KernelLooks()
        self._kernels: list[DrawnKernel] = []

    def part(self, first: int = 0, last: int | None = None) -> LanesOf:
        """The events from `first` to before `last`, or as many as there are."""
        # The rows first: every kernel that they name is then in the list.
        every = self.events.rows
        rows = every[first:last]
        known = len(self._kernels)
        self._kernels += [self._drawn(kernel, k) for k, kernel in enumerate(self.events.kernels[known:], known)]
        after, before = self.events.waits(first, first + rows.size).T
        flows = np.stack([every["end"][before], every["start"][after], every["kernel"][before], every["kernel"][after]])
        return LanesOf(list(self._kernels), rows, flows.T)

    def _drawn(self, kernel: Kernel, place: int) -> DrawnKernel:
        style, colour = self._looks.of(kernel.name, kernel.lane)
        return DrawnKernel(
            kernel_name(kernel.name),
            kernel.name,
            kernel.lane,
            kernel.bytes,
            kernel.flops,
            rank(kernel.lane),
            style,
            colour,
            level_of(kernel.name),
            group=int(self._own is not None and place >= self._own),
            worker=is_worker(kernel.lane),
            idle=kernel.name == WAITING,
        )


def timeline_scene(trace: Trace, iterations: tuple[int, int] | None = None, *, title: str = "") -> Scene:
    """A lane per device, copy engine or worker, and a box per call, with the trace's label and machine in the title.

    iterations: first and last, both included; by default the two in the middle of the trace. Raises InputError for
    iterations without events, or with more than 4000.
    """
    first, last = iterations or _middle(trace)
    indices = _indices(trace, first, last)
    part = GrowingLanes(trace).part(int(indices[0]), int(indices[-1]) + 1)
    rows = trace.rows[indices]
    # An event waits within these iterations, or for what is not in sight.
    flows = part.flows[np.isin(part.flows[:, 0], rows["end"]) & np.isin(part.flows[:, 1], rows["start"])]
    origin = rows["start"].min()
    rows["start"] -= origin
    rows["end"] -= origin
    flows[:, :2] -= origin
    layer = dataclasses.replace(part, rows=rows, flows=flows)
    x = Axis(f"time from the start of iteration {first}", "s", span=(0.0, float(rows["end"].max())))
    y = Axis("", names=layer.lanes, span=(len(layer.lanes) - 0.5, -ABOVE))
    about = f"{trace.label} on {trace.machine}" if trace.machine else trace.label
    caption = f"{title}\n{about}" if title else about
    return Scene("timeline", x, y, [layer, *_starts(rows)], title=caption)


def _middle(trace: Trace) -> tuple[int, int]:
    """Two middle iterations: the first ones run with cold caches, the last ones check the true residual."""
    last = int(trace.column("iteration").max()) if trace.count else 0
    return (last // 2, min(last, last // 2 + 1))


def _indices(trace: Trace, first: int, last: int) -> np.ndarray:
    """The events of iterations `first` to `last`."""
    numbers = trace.column("iteration")
    indices = np.flatnonzero((numbers >= first) & (numbers <= last))
    if not indices.size:
        available = f"iterations {numbers.min()} to {numbers.max()}" if numbers.size else "no events"
        raise InputError(f"there are no events in iterations {first} to {last}; the trace has {available}")
    if indices.size > MAX_BOXES:
        raise InputError(
            f"iterations {first} to {last} have {indices.size} events, a timeline shows up to {MAX_BOXES}; "
            "choose fewer iterations, or open the trace in ui.perfetto.dev"
        )
    return indices


def _starts(rows: np.ndarray) -> list[LineAt]:
    """A line where each iteration begins, with its number where there is room."""
    numbers = np.unique(rows["iteration"])
    every = max(1, numbers.size // MOST_NUMBERS)
    lines = []
    for place, number in enumerate(numbers):
        words = "" if place % every else str(number) if place else f"iteration {number}"
        lines.append(LineAt(float(rows["start"][rows["iteration"] == number].min()), words, upright=True))
    return lines
