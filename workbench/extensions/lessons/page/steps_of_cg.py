"""The first two steps of CG, one thought after the other, next to a picture that follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import ipywidgets as widgets
import traitlets

from workbench.extensions.lessons.page.geometry import Geometry2D
from workbench.live.ui.assets import script
from workbench.live.ui.controls import column, row
from workbench.live.ui.view import LiveWidget


@dataclasses.dataclass(frozen=True)
class Thought:
    """A step of the derivation: its title, sentences, what the picture marks, and true if it is stretched."""

    title: str
    sentences: tuple[str, ...]
    marked: tuple[str, ...]
    stretched: bool = False


THOUGHTS = (
    Thought(
        "The error",
        ("CG starts at the round handle. e₀ leads from the solution to it.", "r₀ = −A e₀ points downhill."),
        ("e",),
    ),
    Thought(
        "The first step",
        (
            "p₀ = r₀, as in steepest descent. The step α₀ p₀ ends where φ is smallest on its line:",
            "α₀ = (r₀, r₀)/(p₀, A p₀).",
            "There it touches the dashed contour line.",
        ),
        ("p0", "touched"),
    ),
    Thought(
        "The next residual",
        ("r₁ = r₀ − α₀ A p₀ is orthogonal to p₀.", "Steepest descent follows it, and misses the solution."),
        ("p0", "r1"),
    ),
    Thought(
        "The conjugate line",
        (
            "The step was the best one, so (p₀, A e₁) = 0.",
            "All p with (p₀, A p) = 0 are on one line, and e₁ is: it leads to the solution.",
        ),
        ("conjugate", "e1"),
    ),
    Thought(
        "A sum in place of r₁",
        (
            "p₁ = r₁ + β₀ p₀ is on that line for",
            "β₀ = (r₁, r₁)/(r₀, r₀).",
            "A part of the last direction corrects the new residual.",
        ),
        ("bp", "p1"),
    ),
    Thought(
        "The second step",
        ("α₁ p₁ ends in the solution: two steps for two unknowns, whatever the bowl.",),
        ("p0", "p1"),
    ),
    Thought(
        "Stretched by √A",
        (
            "The contour lines are circles now, and both steps are at a right angle.",
            "Conjugate means orthogonal once the bowl is round.",
        ),
        ("p0", "p1"),
        stretched=True,
    ),
)


class ScrolledSteps(LiveWidget):
    """Steps in a column that scrolls. steps: of each a title and sentences. at: the present one, counted from 0."""

    _script = script("lessons/scrollsteps.js")
    steps = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    about = traitlets.Unicode().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("at")
    def _within(self, proposal: traitlets.Bunch) -> int:
        return min(max(proposal["value"], 0), len(self.steps) - 1)


class StepsOfCG(Geometry2D):
    """The first two steps of CG, one thought after the other. Display it, or `box`.

    A column of text scrolls, also by its buttons and the arrow keys; the picture shows what the present step is on, for
    the start and the axes as they are dragged. angle, lengths, start: as for `Geometry2D`.

    Examples:
        >>> from workbench.live import StepsOfCG
        >>> view = StepsOfCG()
        >>> view.go(4)
        >>> view.marked
        ('bp', 'p1')
        >>> view.close()
    """

    def __init__(
        self, angle: float = 25.0, lengths: Sequence[float] = (3.2, 0.8), start: Sequence[float] = (3.6, 2.5)
    ) -> None:
        self.steps = ScrolledSteps(
            steps=[[each.title, *each.sentences] for each in THOUGHTS], about="Steps of CG; arrow keys go through them"
        )
        super().__init__(angle, lengths, start)
        self.steps.observe(lambda _change: self._worker.ask(self.mark), "at")
        pictures = column("wb-onepicture", self._plots, self.words)
        self.box = widgets.VBox([row("wb-scrolled", self.steps, pictures), self.pointing])
        self.box.add_class("wb").add_class("wb-geometry").add_class("wb-stepsofcg")
        self.mark()

    def go(self, step: int) -> None:
        """Show a step, counted from 0."""
        self.steps.at = step
        self.mark()

    def mark(self, *keys: str) -> None:
        """Mark what the text points at, or what the present step is on."""
        super().mark(*(keys or THOUGHTS[self.steps.at].marked))

    @property
    def _is_stretched(self) -> bool:
        return THOUGHTS[self.steps.at].stretched

    def _show(self) -> None:
        super()._show()
        # The stretched picture, which has no handles, takes the place of the other one.
        self.chart.layout.display = "none" if self._is_stretched else None
