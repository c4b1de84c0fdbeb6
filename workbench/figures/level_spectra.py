"""Spectra of A, M^-1 A and M^-1 P A, one above the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from workbench.analysis.convergence_estimates import nonzero
from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS

MATH = {"A": "$A$", "M^-1 A": "$M^{-1}A$", "M^-1 P A": "$M^{-1}PA$"}


def level_spectra(
    spectra: Mapping[str, np.ndarray], *, title: str = "", width: float = 7.5, height: float | None = None
) -> Figure:
    """Row of ticks per spectrum on one logarithmic axis, annotated with its condition number and number of zeros.

    spectra: ascending eigenvalues by name, level by level. Eigenvalues of the last row but one that are below all
    nonzero eigenvalues of the last row, hence removed by deflation, have another colour. Sizes in inches. Raises
    InputError for an empty mapping.
    """
    if not spectra:
        raise InputError("there is no spectrum to draw")
    figure = new_figure(width, height or 0.9 + 0.55 * len(spectra))
    axes = figure.add_subplot()
    rows = [nonzero(values) for values in spectra.values()]
    for row, (values, with_zeros) in enumerate(zip(rows, spectra.values(), strict=True)):
        # The eigenvalues of A have another scale and are not compared.
        compared = 0 < row == len(rows) - 2
        low = values < rows[-1][0] * (1 - 1e-9) if compared else np.zeros(values.size, bool)
        axes.vlines(values[~low], row - 0.32, row + 0.32, color=COLOURS[0], lw=0.7)
        axes.vlines(values[low], row - 0.32, row + 0.32, color=COLOURS[1], lw=1.4)
        count = with_zeros.size - values.size
        zeros = f"\n{count} {'zero' if count == 1 else 'zeros'}" if count else ""
        axes.annotate(
            f"κ = {values[-1] / values[0]:.3g}{zeros}", (1, row), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize="small",
        )  # fmt: skip
        if low.any():
            axes.annotate(
                removed(int(np.count_nonzero(low))), (values[low][0], row + 0.32),
                xytext=(0, -3), textcoords="offset points", va="top", fontsize="x-small", color=COLOURS[1],
            )  # fmt: skip
    axes.set(xscale="log", xlabel="eigenvalue", ylim=(len(spectra) - 0.5, -0.5))
    axes.set_yticks(range(len(spectra)), [MATH.get(name, name) for name in spectra])
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(title, fontsize="medium", loc="left")
    return figure


def removed(count: int) -> str:
    """How many eigenvalues deflation removes."""
    return f"{count} eigenvalue{'s' * (count != 1)} removed by deflation"
