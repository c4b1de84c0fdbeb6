"""Three ways to a problem on one page: bubbles drawn by hand, formulas, a matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_builder import BubbleBuilder
from workbench.live.builders.matrix_builder import MatrixBuilder
from workbench.live.builders.poisson_builder import PoissonBuilder
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button, row
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.view import View
from workbench.problems import Problem
from workbench.problems.bubbles import Bubbles
from workbench.problems.files import MatrixFile
from workbench.problems.poisson import Poisson27, Poisson125
from workbench.problems.poisson_formulas import PoissonFormulas
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import SuiteSparse
from workbench.run import Configuration

SOLVES = "run the method chosen in Solve on what is built here, and look at it there"
BUBBLES, POISSON, MATRIX = "Bubbles", "Poisson", "Matrix"
KINDS: dict[str, tuple[type, tuple[type[Problem], ...]]] = {
    BUBBLES: (BubbleBuilder, (Bubbles,)),
    POISSON: (PoissonBuilder, (PoissonFormulas, Poisson27, Poisson125)),
    MATRIX: (MatrixBuilder, (MatrixFile, SuiteSparse, StandIn)),
}
"""Each builder, and the problems that it shows."""


class Builder(View):
    """One builder at a time; each keeps its problem while another is in front. `problem` is that of the builder in
    front.

    problem and deflation: at first, see `load`. configuration: returns that of the page, see `BubbleBuilder` and
    `MatrixBuilder`, which calls `use`. solve: the action of a button that solves the problem; None for no button.
    Display it. A builder is made when it is first shown.

    Examples:
        >>> from workbench.live import Builder
        >>> builder = Builder()
        >>> builder.problem.name
        'bubbles-2d'
        >>> builder.close()
    """

    def __init__(
        self,
        problem: Problem | None = None,
        deflation: Deflation | None = None,
        configuration: Callable[[], Configuration] | None = None,
        solve: Callable[[], object] | None = None,
        use: Callable[[Configuration], object] | None = None,
    ) -> None:
        self._configuration, self._use = configuration, use
        self.publisher = Publisher()
        self._made: dict[str, Any] = {}
        self._listeners = Listeners("the builder")
        self._lock = threading.RLock()
        self.kind = widgets.ToggleButtons(options=tuple(KINDS))
        self._place = widgets.VBox().add_class("wb-place")
        self.press = button("Solve this", SOLVES, solve or (lambda: None), style="primary", width="auto")
        kinds = row("wb-kinds", self.kind, *([self.press] if solve else []))
        self.box = widgets.VBox([kinds, self._place]).add_class("wb-building")
        self.kind.observe(lambda _change: self._turn(), "value")
        if problem is not None and kind_of(problem):
            self.load(problem, deflation)
        self._turn()

    @property
    def builder(self) -> Any:
        """The builder in front."""
        with self._lock:
            kind = str(self.kind.value)
            if kind not in self._made:
                more: dict[str, Any] = {} if kind == POISSON else {"configuration": self._configuration}
                more |= {"use": self._use} if kind == MATRIX else {}
                self._made[kind] = KINDS[kind][0](publisher=self.publisher, **more)
                self._made[kind].on_change(lambda _built: self._changed())
                self._made[kind].form.on_show.add(self._weigh)
            return self._made[kind]

    @property
    def problem(self) -> Problem:
        """The problem of the builder in front. Raises InputError with the sentence for a wrong or missing value."""
        return self.builder.problem

    @property
    def wrong(self) -> str:
        """The error in the problem; empty also before anything is built."""
        return "" if self.built is not None else self.builder.wrong

    @property
    def built(self) -> Problem | None:
        """The problem; None where it is incomplete or wrong."""
        try:
            return self.problem
        except InputError:
            return None

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call back after every change of the problem, on a thread of the builder's own; the callback must return at
        once."""
        self._listeners.add(callback)

    def load(self, problem: Problem, deflation: Deflation | None = None) -> None:
        """Show a problem in the builder that can. Raises InputError where none can."""
        kind = kind_of(problem)
        if kind is None:
            raise InputError(f"{problem.name} is not drawn here but chosen by its parameters")
        self.kind.value = kind
        builder = self.builder
        if kind == BUBBLES:
            builder.load(problem, deflation)
        else:
            builder.load(problem)

    def hide(self, hidden: bool) -> None:
        """Stop the work of the builders while another page is in front."""
        for kind in {BUBBLES, MATRIX} & set(self._made):
            self._made[kind].hide(hidden)

    def close(self) -> None:
        """Take it off the page."""
        for builder in self._made.values():
            builder.close()
        self.publisher.close()
        super().close()

    def _turn(self) -> None:
        builder = self.builder
        self._place.children = (builder.box,)
        if isinstance(builder, MatrixBuilder):
            builder.samples.appear()
        self._changed()

    def _changed(self) -> None:
        self._weigh()
        self._listeners.notify()

    def _weigh(self) -> None:
        """Enable the button that solves the problem, or say why it cannot be solved."""
        why = self.builder.obstacle
        self.press.disabled, self.press.tooltip = bool(why), why or SOLVES


def kind_of(problem: Problem) -> str | None:
    """The name of the builder that shows a problem; None where none does."""
    return next((kind for kind, (_, shown) in KINDS.items() if isinstance(problem, shown)), None)
