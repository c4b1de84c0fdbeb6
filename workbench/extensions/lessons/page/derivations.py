"""Derivations in a column that scrolls, with a picture of the present step: deflation, and the lines of block CG."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence

import ipywidgets as widgets
import numpy as np

from workbench.extensions.lessons.block_products import blocks
from workbench.extensions.lessons.bubble_scenes import columns_scene, curves_scene, parts_scene, products_scene
from workbench.extensions.lessons.bubbles import COUNT, KEPT_ITERATIONS, TOLERANCE, errors, five_bubbles, parts, reached
from workbench.extensions.lessons.page.pointing import MARKING, Pointing, ScrolledSteps
from workbench.live.plots.chart import ChartView
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import column, row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.plots.scenes.scene import Scene
from workbench.words.numbers import count, counted


@dataclasses.dataclass(frozen=True)
class Thought:
    """A step of a derivation: its title, its sentences, and the key of its picture."""

    title: str
    sentences: tuple[str, ...]
    picture: str


class Derivation(WorkingView, abc.ABC):
    """Base of both: a column of steps, and one picture that follows it. Subclasses implement `picture`.

    symbols: pictures by the keys of the text, each shown while a symbol of this key is pointed at.
    """

    def __init__(
        self, about: str, thoughts: Sequence[Thought], symbols: Mapping[str, str], *controls: widgets.Widget
    ) -> None:
        self.thoughts, self.symbols = thoughts, symbols
        self.marked = ""
        """The key of `symbols` that is pointed at."""
        self.steps = ScrolledSteps(
            steps=[[each.title, *each.sentences] for each in thoughts], about=f"{about}; arrow keys go through them"
        )
        self.chart = ChartView()
        self.words = StatusLine()
        self._worker = LatestOnly("workbench-derivation")
        self.pointing = Pointing(symbols, lambda key: self._worker.ask(lambda: self.mark(key), MARKING))
        self.steps.observe(lambda _change: self._worker.ask(self._show), "at")
        right = column("wb-onepicture", *controls, self.chart, self.words)
        self.box = (
            widgets.VBox([row("wb-besides", self.steps, right), self.pointing])
            .add_class("wb")
            .add_class("wb-derivation")
        )
        self._worker.ask(self._show)

    @property
    def thought(self) -> Thought:
        """The present step."""
        return self.thoughts[self.steps.at]

    def go(self, step: int) -> None:
        """Show a step, counted from 0."""
        self.steps.at = step

    def mark(self, key: str) -> None:
        """Show the picture of a key of `symbols`; "" shows that of the present step."""
        self.marked = key
        self._show()

    @abc.abstractmethod
    def picture(self, key: str) -> Scene:
        """The scene of a step."""

    def _show(self) -> None:
        self.words.say("computing …", "busy")
        scene = self.picture(self.symbols.get(self.marked, self.thought.picture))
        self.chart.show(scene)
        self.words.say(scene.spoken)


DEFLATION = (
    Thought(
        "The parts of u₀",
        (
            "Each point is an eigenvector of M⁻¹A, without Z, over its eigenvalue λ.",
            "Its height is the part of u₀ = M⁻¹r₀ in it.",
            "The tiny ones have parts too, so CG has to remove them.",
        ),
        "plain",
    ),
    Thought(
        "A column for each bubble",
        ("Z has a column for each chosen bubble.", "E = ZᵀAZ has as many rows, and is solved with directly."),
        "columns",
    ),
    Thought(
        "PAZ = 0",
        (
            "The tiny eigenvalues of these bubbles have become zeros, at the left end.",
            "One more zero has been there before: that of the constants.",
            "Before b is projected, M⁻¹b has parts in these zeros.",
        ),
        "unprojected",
    ),
    Thought(
        "ZᵀP = 0",
        (
            "CG begins with r₀ = Pb, so Zᵀr₀ = 0.",
            "(Zy, Mu₀) = (y, Zᵀr₀) = 0: the parts in all zeros are rounding.",
        ),
        "first",
    ),
    Thought(
        "None comes in later",
        (
            f"The same after {KEPT_ITERATIONS} iterations.",
            "An iteration multiplies each part by its λ and adds parts: zero stays zero.",
        ),
        "later",
    ),
    Thought(
        "The ends that count",
        ("The residual polynomial has to be small at the positive eigenvalues alone.", "κ is the ratio of their ends."),
        "ends",
    ),
    Thought(
        "Fewer iterations",
        (
            "The curve is the error of x = Qb + Pᵀx̂, pale without vectors.",
            "Each tiny eigenvalue that is left costs it a plateau.",
        ),
        "curves",
    ),
)
"""Why zeros do no harm, one thought after the other."""

BLOCKS = (
    Thought(
        "The step",
        (
            "Rows are the columns of P₀, P₁, …, and columns those of R₀, R₁, …; dark is rounding.",
            "δα = (P, R) makes the new R orthogonal to P.",
            "It stays so: each later R is orthogonal to all P before it.",
        ),
        "P R",
    ),
    Thought(
        "γ in place of (P, R)",
        (
            "P is U and directions before, to which R is orthogonal.",
            "So (P, R) = (U, R) = γ, the blocks on the diagonal here.",
            "All others are zero: U is made of directions too.",
        ),
        "U R",
    ),
    Thought(
        "The new U is not conjugate",
        (
            "S = AP. The next U is conjugate to all P but the last one.",
            "Sα = R − R₊ is the change of R by the step, and (R, U₊) = 0, so",
            "αᵀ(S, U₊) = −(R₊, U₊) = −γ₊.",
        ),
        "S U",
    ),
    Thought(
        "One block corrects it",
        (
            "P₊ = U₊ + Pβ with γβ = γ₊ takes this away.",
            "Now each direction is conjugate to those of all other blocks.",
            "So β looks back by one block only, and no other is kept.",
        ),
        "S P",
    ),
)
"""The lines of block CG, one product after the other."""


OF_DEFLATION = {"z": "columns", "zeros": "unprojected", "u": "first"}
"""Pictures of deflation by the keys of the text."""
OF_BLOCKS = {"delta": "P S", "pr": "P R", "gamma": "U R", "su": "S U"}
"""Maps of products by the keys of the text."""


class StepsOfDeflation(Derivation):
    """The parts of the residual in eigenvectors, from M^-1 A to M^-1 P A. Display it, or `box`.

    A column of text scrolls; `slider` chooses the number of bubbles with a vector, 1 to 5. Cost: eigenvectors of 576
    unknowns and a solve for each choice, once for all pages of a server.

    Examples:
        >>> from workbench.live import StepsOfDeflation
        >>> view = StepsOfDeflation()
        >>> view.wait(60)
        True
        >>> view.close()
    """

    def __init__(self) -> None:
        self.slider = widgets.IntSlider(
            4, 1, COUNT, description="vectors of Z", style={"description_width": "initial"}, layout={"width": "320px"}
        )
        super().__init__("Steps of deflation", DEFLATION, OF_DEFLATION, self.slider)
        self.slider.observe(lambda _change: self._worker.ask(self._show), "value")

    def picture(self, key: str) -> Scene:
        many = int(self.slider.value)
        self.slider.layout.visibility = "hidden" if key == "plain" else "visible"
        if key == "columns":
            return columns_scene(five_bubbles(), many)
        if key == "curves":
            name = counted(many, "vector")
            curves = {"no vector": errors(0), name: errors(many)}
            spread = {each: (np.arange(curve.size), curve) for each, curve in curves.items()}
            scene = curves_scene(spread, name, "‖x* − xₖ‖ / ‖x*‖, A-norms", TOLERANCE)
            alone, taken = (count(reached(curve)) for curve in curves.values())
            said = f"With {name} the error is a millionth after {taken} iterations, without vectors after {alone}."
            return dataclasses.replace(scene, spoken=said)
        found = parts(0 if key == "plain" else many)
        return parts_scene(found, key)


class StepsOfBlockCG(Derivation):
    """The products of blocks that give the lines of block CG, measured. Display it, or `box`.

    A column of text scrolls, and a map shows which products of the blocks of four iterations are zero. Cost: a walk
    through 144 unknowns, once for all pages of a server.

    Examples:
        >>> from workbench.live import StepsOfBlockCG
        >>> view = StepsOfBlockCG()
        >>> view.wait(60)
        True
        >>> view.close()
    """

    def __init__(self) -> None:
        super().__init__("Products of blocks", BLOCKS, OF_BLOCKS)

    def picture(self, key: str) -> Scene:
        return products_scene(blocks(), key)
