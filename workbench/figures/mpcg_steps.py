"""What the iterations of multipreconditioned CG did: weights of terms, conditioning, and time of parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from workbench.errors import InputError
from workbench.figures.style import new_figure
from workbench.scenes.style import curve_style
from workbench.solvers.multi.basis import Step

MOST_BARS = 24
"""More terms are labelled at every second, third, .. bar."""


def term_weights(steps: Sequence[Step], *, iteration: int = -1, width: float = 5.5, height: float = 3.0) -> Figure:
    """The weight of each term in the step of an iteration, as bars: which preconditioner contributes.

    With k equal boxes and a smooth solution they are alike; a box without a share gives nothing that others do not
    give. Sizes in inches. Raises InputError for an iteration that was not made.
    """
    step = _step(steps, iteration)
    number = range(len(steps))[iteration] + 1
    figure = new_figure(width, height)
    axes = figure.subplots()
    values = np.real(step.shares)
    axes.bar(np.arange(values.size), values, color=curve_style(0).colour)
    axes.axhline(0, color="#666666", linewidth=0.8)
    axes.set(xlabel="term", ylabel="weight in the step (1)", title=f"iteration {number}")
    # No ticks where there are no terms.
    axes.set_xlim(-0.6, values.size - 0.4)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=MOST_BARS, integer=True))
    return figure


def block_conditioning(steps: Sequence[Step], *, width: float = 5.5, height: float = 3.8) -> Figure:
    """Directions of each block above the condition number of its scaled P^H A P, against iterations. Sizes in inches.

    Raises InputError where no iteration was made.
    """
    _step(steps, -1)
    figure = new_figure(width, height)
    above, below = figure.subplots(2, 1, sharex=True)
    iterations = np.arange(1, len(steps) + 1)
    above.step(iterations, [step.directions for step in steps], where="mid", color=curve_style(1).colour)
    above.set(ylabel="directions", ylim=(0, 1.15 * max(1, *(step.shares.size for step in steps))))
    above.yaxis.set_major_locator(MaxNLocator(integer=True))
    condition = np.array([step.condition for step in steps])
    shown = np.where(np.isfinite(condition), condition, np.nan)
    below.set(ylabel="condition of P$^H$AP,\nscaled (1)", xlabel="iteration k")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    if np.isfinite(shown).any():
        below.semilogy(iterations, shown, color=curve_style(2).colour, marker=".", markersize=4, linewidth=1)
        below.grid(True, which="major", color="#dddddd", linewidth=0.6)
    return figure


def time_split(steps: Sequence[Step], *, width: float = 5.5, height: float = 3.2) -> Figure:
    """Milliseconds of each part of every iteration, as stacked areas. Sizes in inches.

    Raises InputError where no iteration was made.

    Source: Chen 2022, Figure 5, which splits the time of a solve.
    """
    parts = list(_step(steps, -1).seconds)
    figure = new_figure(width, height)
    axes = figure.subplots()
    iterations = np.arange(1, len(steps) + 1)
    rows = [[1e3 * step.seconds[part] for step in steps] for part in parts]
    total = np.sum(rows)
    labels = [f"{part}, {np.sum(row) / total:.0%}" for part, row in zip(parts, rows, strict=True)]
    colours = [curve_style(place).colour for place in range(len(parts))]
    bottom = np.zeros(len(steps))
    for row, label, colour in zip(rows, labels, colours, strict=True):
        axes.bar(iterations, row, bottom=bottom, width=1.0, label=label, color=colour)
        bottom += row
    axes.set(xlabel="iteration k", ylabel="time (ms)", title=f"{_duration(total)} in all")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1e3:.3g} s" if milliseconds >= 1e3 else f"{milliseconds:.3g} ms"


def _step(steps: Sequence[Step], iteration: int) -> Step:
    if not -len(steps) <= iteration < len(steps):
        raise InputError(f"iteration {iteration + 1} was not made; there are {len(steps)}")
    return steps[iteration]
