"""Spectra before and after each level, one above the other: what a preconditioner moves and deflation removes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from workbench.analysis.inside import nonzero
from workbench.errors import InputError
from workbench.figures.style import COLOURS, new_figure

MATH = {"A": "$A$", "M^-1 A": "$M^{-1}A$", "M^-1 P A": "$M^{-1}PA$"}


def levels(
    spectra: Mapping[str, np.ndarray], *, title: str = "", width: float = 7.5, height: float | None = None
) -> Figure:
    """A row of ticks for each spectrum on one logarithmic axis, its condition number and its zeros beside it.

    spectra: eigenvalues by name, ascending, level after level. Zeros have no place on the axis and are counted; what
    deflation removes, the eigenvalues of the row before the last below all nonzero ones of the last, is in another
    colour. Sizes in inches. Raises InputError when there is nothing to draw.
    """
    if not spectra:
        raise InputError("there is no spectrum to draw")
    figure = new_figure(width, height or 0.9 + 0.55 * len(spectra))
    axes = figure.add_subplot()
    rows = [nonzero(values) for values in spectra.values()]
    for row, (values, whole) in enumerate(zip(rows, spectra.values(), strict=True)):
        # A without M is on a scale of its own.
        compared = 0 < row == len(rows) - 2
        low = values < rows[-1][0] * (1 - 1e-9) if compared else np.zeros(values.size, bool)
        axes.vlines(values[~low], row - 0.32, row + 0.32, color=COLOURS[0], lw=0.7)
        axes.vlines(values[low], row - 0.32, row + 0.32, color=COLOURS[1], lw=1.4)
        count = whole.size - values.size
        zeros = f"\n{count} {'zero' if count == 1 else 'zeros'}" if count else ""
        axes.annotate(
            f"κ = {values[-1] / values[0]:.3g}{zeros}", (1, row), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize="small",
        )  # fmt: skip
        if low.any():
            axes.annotate(
                f"{np.count_nonzero(low)} below all that deflation leaves", (values[low][0], row + 0.32),
                xytext=(0, -3), textcoords="offset points", va="top", fontsize="x-small", color=COLOURS[1],
            )  # fmt: skip
    axes.set(xscale="log", xlabel="eigenvalue", ylim=(len(spectra) - 0.5, -0.5))
    axes.set_yticks(range(len(spectra)), [MATH.get(name, name) for name in spectra])
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(title, fontsize="medium", loc="left")
    return figure
