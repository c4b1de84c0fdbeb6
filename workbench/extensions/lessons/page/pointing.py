"""Symbols of a text that a picture marks while the pointer or the focus is on one, and steps that scroll with one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import ipywidgets as widgets
import traitlets

from workbench.live.stepping.step_view import StepView
from workbench.live.ui.assets import script
from workbench.live.ui.view import LiveWidget, View

MARKING = "marking"
"""The key of a job that marks, see `InOrder.ask`: another one replaces it, and no other job is replaced by it."""


class Pointing(LiveWidget):
    """Part of the box of a picture; it shows nothing itself.

    Text on the page of the classes `wb-symbol` and `wb-symbol-KEY` is marked by the nearest picture that has this key
    (sources of lessons write [[KEY|text]]). symbols: the keys of the picture. mark: called with a key, or with "" once
    no symbol is pointed at. plots: the plot of the picture that a key is marked in, counted from 0, where it has
    several; a copy comes next to the text while that plot is out of sight, by default while all are.
    """

    _script = script("lessons/pointing.js")
    symbols = traitlets.List(traitlets.Unicode()).tag(sync=True)
    plots = traitlets.Dict(value_trait=traitlets.Int(), key_trait=traitlets.Unicode()).tag(sync=True)

    def __init__(
        self, symbols: Iterable[str], mark: Callable[[str], object], plots: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(symbols=[*symbols], plots={**(plots or {})})
        self._mark = mark
        self.on_msg(self._receive)

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        match content:
            case {"kind": "points", "key": str(key)} if not key or key in self.symbols:
                self._mark(key)


class ScrolledSteps(LiveWidget):
    """Steps in a column that scrolls. steps: of each a title and sentences. at: the present one, counted from 0."""

    _script = script("lessons/scrollsteps.js")
    steps = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    about = traitlets.Unicode().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("at")
    def _within(self, proposal: traitlets.Bunch) -> int:
        return min(max(proposal["value"], 0), len(self.steps) - 1)


NAMES = {"p": "P", "r": "R", "alpha": "alpha", "beta": "beta", "delta": "delta"}
"""Names of the lines of block CG, by the keys of the text."""


class MarkedSteps(View):
    """A stepper of block CG whose lines and pictures mark the letters of the text. Display it, or `box`.

    method, problem, n and rhs: as for `StepView`, which is `stepper`.

    Examples:
        >>> from workbench.live import MarkedSteps
        >>> view = MarkedSteps("block-cg-oleary", "poisson5", n=8, rhs="random:2")
        >>> view.close()
    """

    def __init__(self, method: str, problem: str, *, n: int, rhs: str) -> None:
        self.stepper = StepView(method, problem, n=n, rhs=rhs)
        self.pointing = Pointing(NAMES, self.mark)
        self.box = widgets.VBox([self.stepper, self.pointing]).add_class("wb").add_class("wb-markedsteps")

    def mark(self, key: str) -> None:
        """Mark a letter by its key, such as "delta"; "" marks nothing."""
        self.stepper.pointed = NAMES.get(key, "")
