"""Plot of the A-norm of the error with its lower, upper and CG bounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from workbench.analysis.convergence_estimates import Estimates
from workbench.analysis.ritz import cg_bound
from workbench.figures.level_spectra import MATH
from workbench.figures.ritz import GREY
from workbench.figures.style import new_figure
from workbench.scenes.style import COLOURS, DASHES


def error_estimates(
    found: Estimates,
    conditions: Mapping[str, float] | None = None,
    *,
    last: int | None = None,
    title: str = "",
    width: float = 7.5,
    height: float = 3.4,
) -> Figure:
    """Semilogarithmic plot of ||e||_A against iterations: true error, lower and upper bounds, and CG bounds.

    conditions: condition numbers by name of the operator before each level; the CG bound of each starts from the same
    initial error. last: right end of the axis. Sizes in inches.
    """
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    for place, (name, condition) in enumerate((conditions or {}).items(), 1):
        bound = found.start * cg_bound(condition, found.bound_so_far.size - 1)
        dash = (0.0, DASHES[place % len(DASHES)])
        axes.semilogy(bound, color=GREY, ls=dash, lw=1.0, label=f"CG bound, κ of {MATH.get(name, name)}")
    curves = (
        ("CG bound, exact κ", found.bound, COLOURS[2], (0.0, DASHES[1])),
        ("CG bound, κ of the Ritz values so far", found.bound_so_far, COLOURS[5], (0.0, DASHES[2])),
        ("Gauss-Radau, upper bound", found.upper, COLOURS[1], (0.0, DASHES[3])),
        ("Hestenes-Stiefel, lower bound", found.lower, COLOURS[0], "-"),
    )
    for label, values, colour, dash in curves:
        if values is not None and values.size:
            axes.semilogy(values, color=colour, ls=dash, lw=1.4, label=label)
    if found.true is not None:
        every = max(1, found.true.size // 40)
        axes.semilogy(found.true, "o", color="#000000", ms=3.5, mfc="none", markevery=every, label="true error")
    axes.set_yscale("log")
    axes.set(
        xlabel="iteration", ylabel="‖e‖ in the A-norm", xlim=(0, (max(last or 0, found.bound_so_far.size - 1)) + 0.5)
    )
    # The axis range ignores the CG bound, which may be far above the measured values.
    measured = [values[values > 0] for values in (found.lower, found.upper, found.true) if values is not None]
    values = np.concatenate([*measured, [found.start]])
    values = values[np.isfinite(values)]
    axes.set_ylim(values.min() / 3, values.max() * 5)
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_title(title, fontsize="medium", loc="left")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
