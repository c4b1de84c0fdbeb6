"""Time per iteration over the number of unknowns, a curve for each method, and which is best where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.style import curve_style, new_figure


def crossover(
    unknowns: Sequence[int],
    seconds: Mapping[str, Sequence[float | None]],
    *,
    title: str = "",
    at: int | None = None,
    width: float = 7.0,
    height: float = 3.4,
) -> Figure:
    """Curves on logarithmic axes; the marks are on the fastest method of each size.

    unknowns: N, rising; seconds: per iteration, by method, None where it cannot run. at: an N to mark. Sizes in inches.
    Raises InputError where a curve has another number of points than there are sizes, or nothing can run.
    """
    for name, values in seconds.items():
        if len(values) != len(unknowns):
            raise InputError(f"{name} has {len(values)} times for {len(unknowns)} sizes; give one for each")
    fastest = [_fastest(seconds, place) for place in range(len(unknowns))]
    if not any(fastest):
        raise InputError("no method can run at any of these sizes")
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    styles = {name: curve_style(place) for place, name in enumerate(seconds)}
    for name, values in seconds.items():
        style = styles[name]
        shown = [(n, 1e3 * value) for n, value in zip(unknowns, values, strict=True) if value is not None]
        axes.plot(
            [n for n, _ in shown], [ms for _, ms in shown], color=style.colour, linestyle=style.linestyle, label=name
        )
    won = {name for name in fastest if name}
    for name in seconds:
        if name in won:
            style = styles[name]
            mine = [
                (n, 1e3 * value)
                for n, value, best in zip(unknowns, seconds[name], fastest, strict=True)
                if best == name and value is not None
            ]
            axes.plot(
                [n for n, _ in mine],
                [ms for _, ms in mine],
                linestyle="none",
                marker=style.marker,
                markersize=5,
                color=style.colour,
                label=f"{name} is the fastest",
            )
    if at is not None:
        axes.axvline(at, color="#666666", linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set(xscale="log", yscale="log", xlabel="unknowns N", ylabel="time per iteration, ms")
    axes.grid(color="#dddddd", linewidth=0.5)
    if title:
        axes.set_title(title, fontsize="medium", loc="left")
    figure.legend(loc="outside right upper", fontsize="small", frameon=False)
    return figure


def _fastest(seconds: Mapping[str, Sequence[float | None]], place: int) -> str | None:
    running = {name: value for name, values in seconds.items() if (value := values[place]) is not None}
    return min(running, key=lambda name: running[name]) if running else None
