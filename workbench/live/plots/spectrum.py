"""Facts about its problem that a run finds, live or replayed: Ritz values, condition number, size of the error."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure

from workbench.errors import InputError, error_message
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.run_handle import RunHandle, RunSource
from workbench.live.ui.run_pictures import RunView
from workbench.live.ui.save_bar import SaveBar
from workbench.plots.figures import draw
from workbench.plots.scenes.spectrum import estimates_scene, levels_scene, nothing_yet, ritz_scene
from workbench.spectra.convergence_estimates import (
    MAX_ITERATIONS,
    Estimates,
    estimates,
    iterations_by_bound,
    level_conditions,
    nonzero,
    ritz_columns,
    usable_iterations,
)
from workbench.spectra.exact import LARGEST, spectra
from workbench.words.names import sentence_case
from workbench.words.numbers import count, number, rounded

EXACT = 1024
"""Unknowns up to which the exact spectra are computed unasked: three dense matrices of 8 MB."""
DELAYS = (1, 20)
STYLE = {"description_width": "initial"}
NOTHING = "No iterations yet."
TITLES = {
    "ritz": "Ritz values",
    "estimates": "Error and its bounds",
    "levels": "Exact spectra",
}


class SpectrumView(RunView):
    """Ritz values growing with the iterations, the error between its bounds, and what each level does to the spectrum.

    `SpectrumView(session)` follows a run; of a result or a loaded run the slider replays the iterations. Display it, or
    `box`; `slider` chooses the iteration, `delay` the delay d of the error estimates. exact: eigenvalues by name,
    those of what CG works on last, in place of those that are computed: unasked up to 1024 unknowns, by `compute` and
    its button up to 4096. folder: where figures go, by default exports/ next to the notebook. group: see `StreamView`.
    `figures()` are the pictures, for `figures.save`. Raises InputError for a run without beta, such as one of sd.

    Examples:
        >>> from workbench.live import SpectrumView
        >>> from workbench.run import Run, configure, run_through
        >>> view = SpectrumView(run_through(Run(configure("two-layer", n=8))))
        >>> view.close()
    """

    def __init__(
        self,
        run: RunSource,
        *,
        exact: Mapping[str, np.ndarray] | None = None,
        publisher: Publisher | None = None,
        folder: str | Path | None = None,
        group: str = "",
    ) -> None:
        watched = RunHandle(run)
        if watched.over and watched.history is not None:
            usable_iterations(watched.history)
        super().__init__(publisher)
        self.watched = watched
        self.exact = dict(exact) if exact is not None else {}
        self.why = ""
        """Why there is no exact spectrum, in a sentence."""
        self.slider = widgets.IntSlider(1, 1, 1, description="iteration", style=STYLE)
        self.delay = widgets.IntSlider(4, *DELAYS, description="error-estimate delay d", style=STYLE)
        about = "dense algebra on all of A, M^-1 A and M^-1 P A; may take a minute and 1 GB at 4096 unknowns"
        self.press = button("Compute exact spectra", about, self.compute, width="180px")
        self._worker = LatestOnly("workbench-spectra")
        self._computing = False
        self.message = widgets.HTML()
        self.plots = {name: ChartView(self.publisher, group=group) for name in TITLES}
        self.parts = {name: widgets.VBox([widgets.HTML(_title(name)), plot]) for name, plot in self.plots.items()}
        self.save_bar = SaveBar(
            self.figures, provenance=lambda: watched.provenance, about=lambda: watched.file_title, folder=folder
        )
        controls = row("wb-buttons", self.slider, self.delay)
        self.box = widgets.VBox([controls, self.message, self.press, *self.parts.values(), self.save_bar.box])
        self.box.add_class("wb-explorer")
        self._moving = False
        self.show()
        for control in (self.slider, self.delay):
            control.observe(self._turned, "value")
        self.publisher.add(self.publish)

    def figures(self) -> dict[str, Figure]:
        """The pictures as they stand: `ritz`, `estimates` and, where the spectra are known, `levels`."""
        title = self.watched.title if self.watched else ""
        return {name: draw(plot.scene, title=title) for name, plot in self.plots.items() if plot.scene.layers}

    @property
    def own(self) -> np.ndarray | None:
        """The exact eigenvalues of what CG works on, zeros included; None where they are not known."""
        return next(reversed(self.exact.values())) if self.exact else None

    def compute(self) -> None:
        """Compute the exact spectra of a problem of up to 4096 unknowns; returns at once, and they appear later."""
        watched = self.watched
        if watched is None or self.exact or not self._offered(watched):
            return
        self.why, self._computing = "The exact spectra are being computed.", True
        self._worker.ask(lambda: self._compute(watched))
        self.show()

    def close(self) -> None:
        """Take it off the page for good; the run continues."""
        self._worker.close()
        super().close()

    def extent(self) -> object:
        watched = self.watched
        if watched is None or watched.history is None:
            return watched is not None and watched.error
        wanted = not (self.exact or self.why or watched.busy)
        # Beyond the longest there is nothing more to see.
        return min(watched.history.count - 1, MAX_ITERATIONS + 1), watched.busy, wanted

    def draw(self) -> None:
        watched = self.watched
        if watched is None:
            return
        try:
            count = usable_iterations(watched.history) if watched.history is not None else 0
        except InputError as error:
            self.message.value = html.escape(sentence_case(f"{error}."))
            for name in ("ritz", "estimates"):
                self.plots[name].show(nothing_yet(name, self.message.value))
            return
        self._look_up(watched)
        self.press.layout.display = None if self._offered(watched) and not self.exact else "none"
        self._move_slider(count)
        self._draw_levels()
        if not count or watched.history is None:
            self.message.value = html.escape(watched.error) or NOTHING
            for name in ("ritz", "estimates"):
                self.plots[name].show(nothing_yet(name, watched.error or NOTHING))
            return
        at, known = self.slider.value, self.own
        columns = ritz_columns(watched.history, at)
        found = estimates(watched.history, at, self.delay.value, known)
        whole = found if at == count else estimates(watched.history, count, self.delay.value, known)
        positive = nonzero(known) if known is not None else None
        conditions = level_conditions(self.exact)
        before = dict(list(conditions.items())[:-1])
        said, errors = sentences(columns[at], found, positive)
        self.plots["ritz"].show(ritz_scene(columns, positive, count, said), live=watched.busy)
        self.plots["estimates"].show(estimates_scene(found, before, count, errors, whole), live=watched.busy)
        self.message.value = f"{said} {errors}{_promises(conditions)}{self._footnotes(watched)}"

    def _turned(self, _change: object) -> None:
        if not self._moving:
            self.show()

    def _look_up(self, watched: RunHandle) -> None:
        """Compute the exact spectra once, and never while the run needs the machine."""
        size = watched.unknowns
        if self.exact or self.why or watched.busy or size is None:
            return
        if size > EXACT:
            limit = f"up to {count(EXACT)} unknowns, and on request up to {count(LARGEST)}"
            self.why = f"Exact spectra: {limit}. This problem has {count(size)}."
            return
        self._find(watched)

    def _offered(self, watched: RunHandle) -> bool:
        """True if the spectra cost too much to be computed unasked, but not too much for the button."""
        size = watched.unknowns
        return size is not None and EXACT < size <= LARGEST and not watched.busy and not self._computing

    def _compute(self, watched: RunHandle) -> None:
        """Compute the spectra that the button asked for; runs in the worker."""
        self._find(watched)
        self._computing = False
        self.show()

    def _find(self, watched: RunHandle) -> None:
        try:
            self.exact, self.why = spectra(*watched.described()), ""
        # No one else would report it to the user.
        except Exception as error:
            self.why = f"No exact spectrum: {error_message(error, 'computing it').removesuffix('.')}."

    def _move_slider(self, count: int) -> None:
        """Lengthen the slider; where it stood at its end, it stays there."""
        slider = self.slider
        self._moving = True
        follows = slider.value == slider.max
        slider.max = max(1, count)
        if follows:
            slider.value = slider.max
        slider.disabled = count < 2
        self._moving = False

    def _draw_levels(self) -> None:
        self.parts["levels"].layout.display = None if self.exact else "none"
        if self.exact and not self.plots["levels"].scene.layers:
            self.plots["levels"].show(levels_scene(self.exact))

    def _footnotes(self, watched: RunHandle) -> str:
        notes, history = [self.why] if self.why else [], watched.history
        if history is not None and history.count - 1 > MAX_ITERATIONS:
            notes.append(f"Shown are the first {count(MAX_ITERATIONS)} iterations.")
        gap = history.residual_gap_at if history is not None else None
        if gap is not None and gap <= self.slider.value:
            notes.append(
                f"The true residual left that of the recurrence at iteration {gap}. Later Ritz values and estimates "
                "are not to be trusted."
            )
        return "".join(f"<br>{html.escape(note)}" for note in notes)


def sentences(values: np.ndarray, found: Estimates, exact: np.ndarray | None) -> tuple[str, str]:
    """The numbers of the Ritz values, and those of the error, in a sentence each."""
    known = "" if exact is None else f" (exact: {rounded(exact[-1] / exact[0])})"
    iterations = "iterations" if values.size > 1 else "iteration"
    said = (
        f"Ritz values reach from {rounded(values[0])} to {rounded(values[-1])} after {values.size} {iterations}. "
        f"Effective condition number: {rounded(values[-1] / values[0])}{known}."
    )
    if not found.lower.size:
        return said, "The error estimates need more iterations than their delay d."
    at, low = found.lower.size - 1, found.lower[-1]
    if found.upper is None:
        return (
            said,
            f"At iteration {at} the A-norm of the error was at least {number(low)}. An upper bound needs the smallest "
            "eigenvalue.",
        )
    errors = f"At iteration {at} the A-norm of the error was between {number(low)} and {number(found.upper[-1])}"
    return said, errors + ("." if found.true is None else f"; the true error was {number(found.true[at])}.")


def _promises(conditions: Mapping[str, float]) -> str:
    """The iterations of the CG bound for each spectrum; empty where no spectrum is known."""
    if not conditions:
        return ""
    parts = [f"{count(iterations_by_bound(condition))} ({_as_html(name)})" for name, condition in conditions.items()]
    within = f"within {', '.join(parts)} iterations"
    return f"<br>By the CG bound the A-norm of the error falls to 10<sup>−6</sup> of its start {within}."


def _title(name: str) -> str:
    return f'<div class="wb-figure-title">{TITLES[name]}</div>'


def _as_html(name: str) -> str:
    return html.escape(name).replace("^-1", "<sup>−1</sup>")
