"""Plot of Ritz values against iterations, next to the exact spectrum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

GREY = "#666666"


def ritz(
    columns: Mapping[int, np.ndarray],
    exact: np.ndarray | None = None,
    *,
    last: int | None = None,
    title: str = "",
    width: float = 7.5,
    height: float = 3.4,
) -> Figure:
    """Ritz values against iterations on a logarithmic axis; lines join the smallest and the largest ones.

    columns: ascending Ritz values by iteration; those of the last iteration are drawn larger. exact: positive
    eigenvalues, drawn as ticks in a strip on the right. last: right end of the axis. Sizes in inches. Raises InputError
    without a column.
    """
    if not columns:
        raise InputError("there are no Ritz values to draw; run at least one iteration")
    figure = new_figure(width, height)
    axes, strip = figure.subplots(1, 2, sharey=True, width_ratios=(9, 1)) if exact is not None else (None, None)
    axes = axes or figure.add_subplot()
    iterations = sorted(columns)
    x = np.concatenate([np.full(columns[k].size, k) for k in iterations])
    axes.plot(x, np.concatenate([columns[k] for k in iterations]), ".", color=COLOURS[0], ms=3, label="Ritz values")
    for end, name in ((0, "smallest and largest"), (-1, None)):
        axes.plot(iterations, [columns[k][end] for k in iterations], color=COLOURS[0], lw=0.9, label=name)
    newest = iterations[-1]
    axes.plot(
        np.full(columns[newest].size, newest), columns[newest], "o", color=COLOURS[1], ms=4, mfc="none",
        label=f"of iteration {newest}",
    )  # fmt: skip
    axes.set(yscale="log", xlabel="iteration", ylabel="eigenvalue", xlim=(0, max(newest, last or 0) * 1.02 + 0.5))
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_title(title, fontsize="medium", loc="left")
    if strip is not None and exact is not None:
        strip.hlines(exact, 0, 1, color=COLOURS[2], lw=0.7)
        strip.set(xlim=(0, 1), xticks=[])
        strip.set_xlabel("exact", color=COLOURS[2])
        strip.tick_params(axis="y", which="both", length=0)
        for value in (exact[0], exact[-1]):
            axes.axhline(value, color=COLOURS[2], lw=0.7, ls=(0, (2, 2)), zorder=0)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
