"""Crossover plot: time per iteration against the number of unknowns, by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import curve_style


def crossover(
    unknowns: Sequence[int],
    seconds: Mapping[str, Sequence[float | None]],
    *,
    title: str = "",
    at: int | None = None,
    width: float = 7.5,
    height: float = 3.6,
) -> Figure:
    """Nanoseconds per iteration and unknown on logarithmic axes; rings mark the fastest method of each size.

    Times are divided by N, since they span orders of magnitude, which would hide differences between methods.
    unknowns: N, ascending. seconds: per iteration, by method, None where it cannot run. at: a value of N to mark.
    Sizes in inches. Raises InputError if a curve and `unknowns` differ in length, or if no method can run.
    """
    for name, values in seconds.items():
        if len(values) != len(unknowns):
            raise InputError(f"{name} has {len(values)} times for {len(unknowns)} sizes; give one for each")
    if not any(value is not None for values in seconds.values() for value in values):
        raise InputError("no method can run at any of these sizes")
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    for place, (name, values) in enumerate(seconds.items()):
        style = curve_style(place)
        shown = [(n, 1e9 * value / n) for n, value in zip(unknowns, values, strict=True) if value is not None]
        axes.plot(*zip(*shown, strict=True) if shown else ([], []), color=style.colour, ls=style.linestyle, label=name)
    _mark_fastest(axes, unknowns, seconds)
    if at is not None:
        axes.axvline(at, color="#444444", linewidth=0.9, linestyle=(0, (1, 2)))
        axes.annotate(
            f"N = {at:,}", (at, 1), xycoords=("data", "axes fraction"), xytext=(3, -10), textcoords="offset points",
            fontsize="small", color="#444444",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="unknowns N", ylabel="time per iteration and unknown, ns")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_title(title, fontsize="medium", loc="left")
    figure.legend(loc="outside right center", fontsize="small", frameon=False)
    return figure


def _mark_fastest(axes: Axes, unknowns: Sequence[int], seconds: Mapping[str, Sequence[float | None]]) -> None:
    marked = []
    for place, n in enumerate(unknowns):
        running = [value for values in seconds.values() if (value := values[place]) is not None]
        if running:
            marked.append((n, 1e9 * min(running) / n))
    axes.plot(
        *zip(*marked, strict=True), ls="none", marker="o", ms=7, mfc="none", mec="#444444", mew=1.2, label="the fastest"
    )
