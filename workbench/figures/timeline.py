"""Timeline of a trace: one lane per device or copy engine, one box per kernel, for a range of iterations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from workbench.devices.clock import WAITING, rank
from workbench.devices.cycle_names import summed_name
from workbench.errors import InputError
from workbench.figures.layers import LABEL
from workbench.figures.style import new_figure
from workbench.naming import kernel_name
from workbench.recording import Event, Trace
from workbench.scenes.style import kernel_looks

LONGEST_NAME = 44
MAX_BOXES = 4000
"""More boxes than pixel columns are not visible and make files slow to open."""
MIN_LABELLED_WIDTH = 0.045
"""Boxes narrower than this fraction of the axis have no label."""


def timeline(
    trace: Trace,
    iterations: tuple[int, int] | None = None,
    *,
    title: str = "",
    width: float = 7.5,
    height: float | None = None,
) -> Figure:
    """Boxes on lanes, with the trace's label (`measured`, `modelled`, ...) and the machine in the title.

    iterations: first and last, both included; by default the two in the middle of the trace. Sizes in inches. Raises
    InputError for iterations without events, or with more than 4000.
    """
    first, last = iterations or _middle(trace)
    shown = _events_of(trace, first, last)
    lanes = sorted({event.lane for event in shown}, key=rank)
    colours = _colours(trace, shown)
    figure = new_figure(width, height or 1.5 + 0.5 * len(lanes) + 0.21 * len(colours))
    axes = figure.add_subplot()
    origin = min(event.start for event in shown)
    span = max(event.end for event in shown) - origin
    scale, unit = (1e6, "µs") if span < 1e-3 else (1e3, "ms")
    for row, lane in enumerate(lanes):
        boxes = [event for event in shown if event.lane == lane]
        _draw_lane(axes, row, boxes, colours, origin, scale, span)
    _mark_iterations(axes, shown, origin, scale)
    axes.set_xlim(0, span * scale)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes)), lanes)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"time from the start of iteration {first}, {unit}")
    about = f"{trace.label} on {trace.machine}" if trace.machine else trace.label
    axes.set_title(f"{title}\n{about}" if title else about, fontsize="medium", loc="left", pad=16)
    _legend(figure, colours, shown)
    return figure


def _events_of(trace: Trace, first: int, last: int) -> list[Event]:
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
    return [trace[int(index)] for index in indices]


def _middle(trace: Trace) -> tuple[int, int]:
    """Two middle iterations: the first ones run with cold caches, the last ones check the true residual."""
    last = int(trace.column("iteration").max()) if trace.count else 0
    return (last // 2, min(last, last // 2 + 1))


def _colours(trace: Trace, shown: Sequence[Event]) -> dict[str, str]:
    """The colour of each kernel shown, longest total time first; those of a level of a coarse solve are one.

    They are those of the page, for every range of iterations, and for modelled and measured traces.
    """
    looks = kernel_looks(trace.kernels)
    found = {summed_name(name): colour for name, colour in looks.items()}
    seconds: dict[str, float] = {}
    for event in shown:
        name = summed_name(event.name)
        seconds[name] = seconds.get(name, 0.0) + event.seconds
    longest = sorted(seconds, key=lambda name: -seconds[name])
    return {name: found[name] for name in longest}


def _draw_lane(
    axes: Axes,
    row: int,
    boxes: Sequence[Event],
    colours: dict[str, str],
    origin: float,
    scale: float,
    span: float,
) -> None:
    for event in boxes:
        left, length = (event.start - origin) * scale, event.seconds * scale
        axes.broken_barh(
            [(left, length)],
            (row - 0.32, 0.64),
            label=event.name,
            facecolor=colours[summed_name(event.name)],
            edgecolor="white",
            linewidth=0.5,
        )
        name = kernel_name(event.name)
        if event.seconds > MIN_LABELLED_WIDTH * span and len(name) <= 8:
            at = left + length / 2, row
            axes.text(*at, name, ha="center", va="center", fontsize="small", color="black", gid=LABEL)


def _mark_iterations(axes: Axes, shown: Sequence[Event], origin: float, scale: float) -> None:
    """Draw a line and a number at the start of each iteration."""
    begins: dict[int, float] = {}
    for event in shown:
        begins[event.iteration] = min(event.start, begins.get(event.iteration, event.start))
    step = max(1, len(begins) // 12)
    for place, (iteration, start) in enumerate(sorted(begins.items())):
        at = (start - origin) * scale
        axes.axvline(at, color="#666666", linewidth=0.7, linestyle=(0, (1, 2)), zorder=0)
        if place % step == 0:
            axes.annotate(
                f"iteration {iteration}" if place == 0 else str(iteration),
                (at, 1),
                xycoords=("data", "axes fraction"),
                xytext=(2, 3),
                textcoords="offset points",
                fontsize="small",
                color="#444444",
            )


def _legend(figure: Figure, colours: dict[str, str], events: Sequence[Event]) -> None:
    """Add a legend: kernel, share of the busy time shown, and bandwidth; a worker that waits is not busy."""
    total = sum(event.seconds for event in events if event.name != WAITING) or 1.0
    handles = []
    for name, colour in colours.items():
        mine = [event for event in events if summed_name(event.name) == name]
        seconds, moved = sum(event.seconds for event in mine), sum(event.bytes for event in mine)
        rate = f", {moved / seconds / 1e9:.1f} GB/s" if moved and seconds > 0 else ""
        shown = kernel_name(name)
        short = shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
        label = short if name == WAITING else f"{short}: {seconds / total:.0%}{rate}"
        handles.append(Patch(facecolor=colour, edgecolor="white", label=label))
    figure.legend(
        handles=handles,
        loc="outside lower left",
        title="kernel: share of the busy time shown, bytes over time",
        title_fontsize="small",
        alignment="left",
        fontsize="small",
        frameon=False,
    )
