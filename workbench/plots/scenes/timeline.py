"""Kernels of one or several traces on lanes over time as a scene, and its parts for a page that draws them as they
come."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from workbench.devices.clock import WAITING, is_worker, lane_order
from workbench.devices.cycle_parts import level_of, summed_name
from workbench.errors import InputError
from workbench.plots.scenes.scene import Axis, Layer, Scene
from workbench.plots.scenes.style import KernelLooks
from workbench.records import AlignedTraces, Trace
from workbench.records.trace import Kernel
from workbench.words.names import kernel_name, shortened
from workbench.words.numbers import amount, percent

LONGEST_NAME = 44
MAX_BOXES = 4000
"""More boxes than pixel columns are not visible and make files slow to open."""
NUMBER, FIRST_NUMBER = 1 / 12, 1 / 7
"""Shares of the width for the number of an iteration, and for the first one with its word."""
ABOVE = 1.0
"""From the middle of the first lane to the top, which the numbers of iterations need."""


class Events(Protocol):
    """A trace, or several of them in one stream."""

    @property
    def kernels(self) -> list[Kernel]: ...

    @property
    def rows(self) -> np.ndarray: ...

    def waits(self, first: int, last: int) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True)
class DrawnKernel:
    """A kernel as it is drawn. name: readable. code: its name in the trace. lane_order: sorts lanes from top to bottom.

    style: a number from 0, equal for kernels that are summed together and have one colour. level: of a coarse solve, ""
    for none. group: the set of lanes, 0 for the first trace. worker: the lane is that of a worker. idle: it waits.
    """

    name: str
    code: str
    lane: str
    bytes: int
    flops: int
    lane_order: int
    style: int
    colour: str
    level: str
    group: int
    worker: bool
    idle: bool


@dataclasses.dataclass(frozen=True)
class Start:
    """The start of an iteration of a set of lanes, in s, and its number if it has room."""

    seconds: float
    words: str
    group: int


@dataclasses.dataclass(frozen=True, eq=False)
class LanesOf(Layer):
    """Boxes on lanes. rows: events, as `Trace.rows`; kernels: all that they may name.

    flows: what some of them wait for: the end of that, the start of the event, and both kernels, shape (k, 4). titles:
    of several sets of lanes. starts: of iterations.
    """

    layer, arrays = "lanes", ()

    kernels: Sequence[DrawnKernel]
    rows: np.ndarray
    flows: np.ndarray
    titles: Sequence[str] = ()
    starts: Sequence[Start] = ()
    name: str = ""

    @property
    def used(self) -> list[DrawnKernel]:
        """The kernels of the events."""
        return [self.kernels[number] for number in np.unique(self.rows["kernel"])]

    @property
    def lanes(self) -> dict[tuple[int, str], int]:
        """The lanes with events by set and name, from top to bottom, and their places; each set but the first has its
        title in the place above it."""
        found = sorted({(kernel.group, kernel.lane) for kernel in self.used}, key=lambda at: (at[0], lane_order(at[1])))
        return {(group, lane): place + group for place, (group, lane) in enumerate(found)}

    @property
    def above(self) -> list[int]:
        """The place above each set of lanes, which its title and the numbers of its iterations need."""
        lanes = self.lanes
        return [sum(one < group for one, _ in lanes) + group - 1 for group in range(max(1, len(self.titles)))]

    @property
    def sums(self) -> dict[int, str]:
        """By style, the longest first: name, share of the busy time, and bytes over time; no share for waiting, and the
        name alone for several sets of lanes."""
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
            words[style] = name if kernel.idle or self.titles else f"{name}: {percent(spent[style] / busy)}{rate}"
        return words

    def since(self, known: int) -> tuple[dict[str, Any], bytes]:
        """The data for a page that knows the first `known` kernels.

        Columns one after another: starts as float64, lengths as float32, kernels and iterations as int32; then flows.
        """
        starts, rows = self.rows["start"], self.rows
        lengths = (rows["end"] - starts).astype("<f4")
        columns = starts.astype("<f8"), lengths, rows["kernel"].astype("<i4"), rows["iteration"].astype("<i4")
        new = [dataclasses.asdict(kernel) for kernel in self.kernels[known:]]
        said = {"count": int(rows.size), "flows": len(self.flows), "firstKernel": known, "kernels": new}
        return said, b"".join(column.tobytes() for column in (*columns, self.flows.astype("<f8")))


class GrowingLanes:
    """The events of a trace that may grow, or of several, whose kernels look the same in every part and every set.

    groups: of each kernel the set of lanes; it grows with the kernels, and without it there is one set.
    """

    def __init__(self, events: Events, groups: Sequence[int] | None = None) -> None:
        self.events, self._groups = events, groups
        self._looks = KernelLooks()
        self._kernels: list[DrawnKernel] = []

    def part(self, first: int = 0, last: int | None = None) -> LanesOf:
        """The events from `first` to before `last`, or up to the present end."""
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
            name=kernel_name(kernel.name),
            code=kernel.name,
            lane=kernel.lane,
            bytes=kernel.bytes,
            flops=kernel.flops,
            lane_order=lane_order(kernel.lane),
            style=style,
            colour=colour,
            level=level_of(kernel.name),
            group=self._groups[place] if self._groups is not None else 0,
            worker=is_worker(kernel.lane),
            idle=kernel.name == WAITING,
        )


def timeline_scene(
    trace: Trace | Sequence[Trace],
    iterations: tuple[int, int] | None = None,
    *,
    title: str = "",
    titles: Sequence[str] = (),
) -> Scene:
    """A lane per device, copy engine or worker, and a box per call, with the trace's label and machine in the title.

    trace: or several, each a set of lanes with a title above it, by default its label and machine; each begins at zero.
    iterations: first and last, both included; by default the two in the middle of the shortest trace. Raises InputError
    for iterations without events, or with more than 4000.

    Examples:
        >>> from workbench.run import Run, configure, run_through
        >>> from workbench.plots.scenes import timeline_scene
        >>> result = run_through(Run(configure("two-layer", n=16), trace=True))
        >>> timeline_scene(result.trace, (3, 4)).name
        'timeline'
    """
    traces = [trace] if isinstance(trace, Trace) else list(trace)
    first, last = iterations or _middle(traces)
    events = AlignedTraces(traces)
    indices = _indices(events.rows["iteration"], first, last)
    part = GrowingLanes(events, events.groups).part(int(indices[0]), int(indices[-1]) + 1)
    rows = events.rows[indices]
    # An event waits within these iterations, or for what is not in sight.
    flows = part.flows[np.isin(part.flows[:, 0], rows["end"]) & np.isin(part.flows[:, 1], rows["start"])]
    groups = np.array(events.groups)
    of_rows, of_flows = groups[rows["kernel"]], groups[flows[:, 3].astype(int)]
    starts: list[Start] = []
    for group in np.unique(of_rows):
        mine = of_rows == group
        origin = rows["start"][mine].min()
        rows["start"][mine] -= origin
        rows["end"][mine] -= origin
        flows[of_flows == group, :2] -= origin
    span = float(rows["end"].max())
    for group in np.unique(of_rows):
        starts += _starts(rows[of_rows == group], int(group), span)
    several = len(traces) > 1
    titles = (titles or [about(one) for one in traces]) if several else ()
    layer = dataclasses.replace(part, rows=rows, flows=flows, titles=titles, starts=starts)
    x = Axis(f"time from the start of iteration {first}", "s", span=(0.0, span))
    lanes = {place: lane for (_, lane), place in layer.lanes.items()}
    names = [lanes.get(place, "") for place in range(max(lanes) + 1)]
    y = Axis("", names=names, span=(len(names) - 0.5, -ABOVE))
    caption = "\n".join(filter(None, (title, "" if several else about(traces[0]))))
    return Scene("timeline", x, y, [layer], title=caption)


def about(trace: Trace) -> str:
    """The kind of the times of a trace, and the machine on which they were taken."""
    return f"{trace.label} on {trace.machine}" if trace.machine else trace.label


def _middle(traces: Sequence[Trace]) -> tuple[int, int]:
    """Two middle iterations that all have: the first ones run with cold caches, the last ones check the true
    residual."""
    last = min((int(trace.column("iteration").max()) for trace in traces if trace.count), default=0)
    return (last // 2, min(last, last // 2 + 1))


def _indices(numbers: np.ndarray, first: int, last: int) -> np.ndarray:
    """The events of iterations `first` to `last`. numbers: of the iterations of all events."""
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


def _starts(rows: np.ndarray, group: int, span: float) -> list[Start]:
    """The start of each iteration, with its number if it has room."""
    found: list[Start] = []
    free = 0.0
    for number in np.unique(rows["iteration"]):
        begin = float(rows["start"][rows["iteration"] == number].min())
        words = "" if begin < free else str(number) if found else f"iteration {number}"
        free = begin + span * (NUMBER if found else FIRST_NUMBER) if words else free
        found.append(Start(begin, words, group))
    return found
