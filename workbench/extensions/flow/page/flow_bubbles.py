"""The bubbles of a flow before its first step: drawn and dragged as in Build, in its own box and by its own rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.extensions.flow.placement import GAP, LEAST_CELLS
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.builders.bubble_editor import BubbleEditor
from workbench.live.builders.bubble_model import BubbleModel, Drawing, Row, in_words
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import column
from workbench.live.ui.status import StatusLine
from workbench.problems import Problem
from workbench.problems.bubble_geometry import Geometry, to_text
from workbench.problems.sides import Boundary


@dataclasses.dataclass(frozen=True)
class FlowDrawing(Drawing):
    """The bubbles of a flow, which refuses those that touch a wall or each other and those of too few cells."""

    parameters: RisingBubbles
    unit: ClassVar[str] = "widths"

    def __post_init__(self) -> None:
        """Check nothing, since the problem is valid by itself."""

    @property
    def height(self) -> float:
        return self.parameters.height

    @property
    def new_radius(self) -> float:
        return max(super().new_radius, LEAST_CELLS / self.parameters.n)

    @property
    def sides(self) -> dict[str, Boundary]:
        """No side that can be changed, since all are walls."""
        return {}

    def with_rows(self, rows: Sequence[Row]) -> FlowDrawing:
        if not rows:
            raise InputError("a flow has at least one bubble; add another before you remove this one")
        values = np.array(rows, dtype=np.float64)
        listed = to_text(Geometry(values[:, :-1], values[:, -1], self.height))
        return FlowDrawing(dataclasses.replace(self.parameters, bubbles=listed))

    def room(self, centre: Sequence[float]) -> float:
        return super().room(centre) - GAP / self.parameters.n


class FlowBubbles:
    """A canvas for the bubbles of a flow. Display `box`.

    problem: returns that of the flow. placed: called with another each time that bubbles were put down somewhere else;
    it may raise InputError.
    """

    def __init__(
        self, problem: Callable[[], Problem], placed: Callable[[RisingBubbles], object], publisher: Publisher
    ) -> None:
        self._problem, self._placed, self._known = problem, placed, RisingBubbles()
        model = BubbleModel(FlowDrawing(self._known))
        self.editor = BubbleEditor(model, self._answered, publisher, alone=True, normal="y", position=0.5)
        self.status = StatusLine()
        self.box = column("", self.editor.canvas, self.status)
        self._say()

    def show(self, *, begun: bool) -> bool:
        """Show the bubbles of a flow that has not begun; True if some can be moved."""
        with self.editor.lock:
            problem = self._problem()
            offered = isinstance(problem, RisingBubbles) and not begun
            if isinstance(problem, RisingBubbles) and offered and problem != self._known:
                self._begin_with(problem)
                self._say()
        self.box.layout.display = None if offered else "none"
        return offered

    def close(self) -> None:
        """Take no more."""
        self.editor.close()

    def _answered(self, message: Mapping[str, Any], before: Drawing, refusal: InputError | None) -> None:
        drawn = self.editor.model.drawing.parameters
        assert isinstance(drawn, RisingBubbles)
        if refusal is None and drawn != self._known and not message.get("moving"):
            try:
                self._placed(drawn)
                self._known = drawn
            except InputError as error:
                refusal = error
                self._begin_with(self._known)
        self._say(refusal)

    def _begin_with(self, problem: RisingBubbles) -> None:
        self._known = problem
        self.editor.take(BubbleModel(FlowDrawing(problem)))

    def _say(self, refusal: InputError | None = None) -> None:
        model = self.editor.model
        self.editor.show()
        self.status.say(str(refusal or in_words(model.drawing, model.selected)), "bad" if refusal else "plain")
