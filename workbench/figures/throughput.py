"""Throughput of methods for many right-hand sides against their number, one panel per matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import curve_style

Curve = tuple[Sequence[int], Sequence[float]]


def throughput(
    panels: Mapping[str, Mapping[str, Curve]], *, title: str = "", width: float = 8.5, height: float = 4.2
) -> Figure:
    """GFLOP/s on a logarithmic axis. panels: by title; curves: by name, the numbers of columns and their GFLOP/s.

    Sizes in inches. Raises InputError without a panel.
    """
    if not panels:
        raise InputError("a figure of throughput needs at least one matrix")
    figure = new_figure(width, height)
    row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    for axes, (heading, curves) in zip(row, panels.items(), strict=True):
        for name, (columns, rates) in curves.items():
            style = curve_style(names.index(name))
            axes.plot(columns, rates, color=style.colour, ls=style.linestyle, marker=".", linewidth=1.3, label=name)
        axes.set(yscale="log", xlabel="right-hand sides", title=heading)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(color="#dddddd", linewidth=0.5)
    row[0].set_ylabel("GFLOP/s by the paper's count")
    figure.suptitle(title, fontsize="medium")
    shown = {label: handle for axes in row for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
