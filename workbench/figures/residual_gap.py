"""Plot of the residual gap: recurrence residual and true residual of several methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from workbench.figures.style import new_figure
from workbench.scenes.style import curve_style


def residual_gap(
    residuals: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    at: int | None = None,
    title: str = "",
    width: float = 6.5,
    height: float = 3.4,
) -> Figure:
    """Semilogarithmic plot of ||r|| (lines) and ||b - A x|| (markers) against iterations, one colour per method.

    residuals: by name, recurrence norms and true norms by iteration. at: an iteration to mark. Sizes in inches.
    """
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    for index, (name, (recurrence, true_residual)) in enumerate(residuals.items()):
        style = curve_style(index)
        axes.semilogy(recurrence, color=style.colour, linestyle=style.linestyle, linewidth=1.3, label=f"{name}: ‖r‖")
        axes.semilogy(
            true_residual,
            color=style.colour,
            linestyle="",
            marker=style.marker,
            markersize=4,
            mfc="none",
            markevery=max(1, len(true_residual) // 40),
            label=f"{name}: ‖b − A x‖",
        )
    if at is not None:
        axes.axvline(at, color="#666666", linewidth=0.8)
    axes.set_xlabel("iteration")
    axes.set_ylabel("residual")
    axes.set_title(title)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    if residuals:
        axes.legend(fontsize="small", framealpha=0.9)
    return figure
