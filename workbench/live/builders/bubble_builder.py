"""Bubbles drawn by hand: a canvas on which a problem is built, with the deflation subdomains that follow it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_editor import BubbleEditor
from workbench.live.builders.bubble_form import BubbleForm
from workbench.live.builders.bubble_model import KEPT, BubbleModel, Drawing, in_words
from workbench.live.builders.bubble_pictures import BubblePainter, PictureRequest
from workbench.live.builders.live_panel import LivePanel
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems.bubbles import Bubbles, Bubbles2D
from workbench.registry import Block, find
from workbench.run import Configuration

PATIENCE = 20.0
"""Seconds that reading the problem waits for changes under way."""


class BubbleBuilder(View):
    """A canvas for `Bubbles2D` and `Bubbles3D`. Display it, then run `problem` with `deflation`.

    problem: at first, by default four bubbles in a square. deflation: a block, or text that `find` reads, such as
    "levelset:0"; it is only drawn. publisher: of the dashboard around it. configuration: returns that of the page, for
    solves while a bubble is dragged. An impossible position is shown as refused, with the reason; the last valid one
    remains the value. Raises InputError for another problem.

    Examples:
        >>> from workbench.live import BubbleBuilder
        >>> builder = BubbleBuilder()
        >>> builder.problem.name
        'bubbles-2d'
        >>> builder.close()
    """

    def __init__(
        self,
        problem: Bubbles | None = None,
        deflation: Deflation | str | None = None,
        publisher: Publisher | None = None,
        configuration: Callable[[], Configuration] | None = None,
    ) -> None:
        model = BubbleModel(Drawing(_bubbles(problem or Bubbles2D())))
        self._deflation = _deflation(deflation or "none")
        self._listeners = Listeners("the bubble builder")
        self._editor = BubbleEditor(model, self._answered, publisher)
        self._lock, self._acts, self.canvas = self._editor.lock, self._editor.acts, self._editor.canvas
        self._painter = BubblePainter(self._requested, self.canvas.paint)
        self._first = self._value()
        self.form = BubbleForm(self._ask, self._read_deflation, self._reset, *self._first)
        self.status = StatusLine()
        self.live = LivePanel(self.canvas, self._drawn, configuration)
        self.buttons = {
            "add": button("Add", "a further bubble where there is most room (Insert)", lambda: self._ask("add")),
            "delete": button("Delete", "take the selected bubble away (Delete)", lambda: self._ask("delete")),
            "clear": button("Clear", "take all bubbles away; Undo leads back", lambda: self._ask("clear")),
        }
        self.box = self._layout()
        self.canvas.observe(lambda _change: self._painter.ask(), ["normal", "position"])
        self._show()

    @property
    def _model(self) -> BubbleModel:
        return self._editor.model

    @property
    def problem(self) -> Bubbles:
        """The bubbles as a problem; changes under way are waited for. Raises InputError where there is no bubble."""
        self._acts.wait(PATIENCE)
        with self._lock:
            return self._model.drawing.problem

    @property
    def deflation(self) -> Deflation:
        """The last deflation block that was chosen and is valid."""
        with self._lock:
            return self._deflation

    def on_change(self, callback: Callable[[BubbleBuilder], object]) -> Callable[[], None]:
        """Call with the builder after each change of `problem` or `deflation`; returns a function that ends this.

        The callback runs in the thread that made the change and must return at once. None is made for an empty canvas.
        """
        self._listeners.add(callback)
        return lambda: self._listeners.forget(callback)

    def wait(self, timeout: float = PATIENCE) -> bool:
        """Wait until changes under way are made, considered and drawn; False if one takes longer than `timeout`
        seconds."""
        return self._acts.wait(timeout) and self.live.wait(timeout) and self._painter.wait(timeout)

    def undo(self) -> None:
        """Take the last change back."""
        self._ask("undo")

    def load(self, problem: Bubbles, deflation: Deflation | str | None = None) -> None:
        """Show a problem, and a deflation where one is given. Raises InputError for others.

        Undo leads back to the problem before in the same number of dimensions; a deflation is not undone.
        """
        _bubbles(problem)
        block = None if deflation is None else _deflation(deflation)
        self._acts.wait(PATIENCE)
        with self._lock:
            before = self._value()
            self._model.load(problem)
            if block is not None:
                self._deflation = block
                self.form.load_deflation(block)
            self.form.complaints = {}
            self._editor.take(self._model)
            self.form.show_drawing(self._model.drawing, complete=True)
            self._show()
            self._report(before)
        self.live.changed()

    def hide(self, hidden: bool) -> None:
        """Stop solving while another page is in front, and resume when this one is again."""
        self.live.hide(hidden)

    def close(self) -> None:
        """Take it off the page."""
        self.live.close()
        self._editor.close()
        self._painter.close()
        super().close()

    def _layout(self) -> widgets.Box:
        bar = widgets.HBox([*self.buttons.values(), self.live.switch])
        bar.add_class("wb-buttons")
        drawn = widgets.HBox([self.canvas, self.live.box]).add_class("wb-drawn")
        views = widgets.VBox([bar, self.status, drawn])
        views.add_class("wb-views")
        body = widgets.HBox([self.form.box.add_class("wb-formside"), views])
        body.add_class("wb-body")
        box = widgets.VBox([body])
        box.add_class("wb-explorer").add_class("wb-build")
        return box

    def _ask(self, act: str, **values: object) -> None:
        self._editor.receive({"act": act, **values})

    def _answered(self, message: Mapping[str, Any], before: Drawing, refusal: InputError | None) -> None:
        source = _source(message)
        for name in {"canvas", source}:
            self.form.complaints.pop(name, None)
        if refusal is not None:
            self.form.complain(source, refusal)
        self._forget_what_changed(before)
        self._show()
        self._report((before, self._deflation))
        self.live.changed(moving=bool(message.get("moving")))

    def _forget_what_changed(self, before: Drawing) -> None:
        """Drop the complaints about fields whose value has changed."""
        known, values = before.parameters.parameter_values, self._model.drawing.parameters.parameter_values
        for name in KEPT:
            if known[name] != values[name]:
                self.form.complaints.pop(name, None)

    def _show(self) -> None:
        history = self._model.history
        self.form.offer_undo(undo=history.can_undo, redo=history.can_redo)
        self.form.show_drawing(history.present)
        self.buttons["delete"].disabled = self._model.selected < 0
        self.buttons["clear"].disabled = history.present.empty
        self._editor.show()
        complaint = next(reversed(self.form.complaints.values()), "")
        self.status.say(complaint or in_words(history.present, self._model.selected), "bad" if complaint else "plain")
        self._painter.ask()

    def _value(self) -> tuple[Drawing, Deflation]:
        return self._model.drawing, self._deflation

    def _drawn(self) -> tuple[Drawing, Deflation]:
        with self._lock:
            return self._value()

    def _report(self, before: tuple[Drawing, Deflation]) -> None:
        if self._value() == before or self._model.drawing.empty:
            return
        self._listeners.notify(self)

    def _reset(self) -> None:
        drawing, deflation = self._first
        self._acts.ask(lambda: self.load(drawing.parameters, deflation))

    def _read_deflation(self) -> None:
        self._acts.ask(self._take_deflation)

    def _take_deflation(self) -> None:
        with self._lock:
            before = self._value()
            with contextlib.suppress(InputError):
                self._deflation = self.form.read_deflation()
            self._show()
            self._report(before)
        self.live.changed()

    def _requested(self) -> PictureRequest:
        with self._lock:
            return PictureRequest(self._model.drawing, self._deflation, self.canvas.normal, self.canvas.position)


def _source(message: Mapping[str, Any]) -> str:
    """The field that a complaint is about. The complaint stays until a message from that field, or a new value in
    it."""
    values = message["values"] if message["act"] == "change" else {}
    return str(message.get("source") or (next(iter(values)) if len(values) == 1 else "canvas"))


def _bubbles(problem: object) -> Bubbles:
    if not isinstance(problem, Bubbles):
        name = problem.name if isinstance(problem, Block) else problem
        raise InputError(f"the canvas is for the problems bubbles-2d and bubbles-3d, got {name}")
    return problem


def _deflation(chosen: object) -> Deflation:
    block = find("deflation", chosen) if isinstance(chosen, str) else chosen
    if not isinstance(block, Deflation):
        raise InputError(f"deflation must be a block or its name, such as levelset:0, got {chosen!r}")
    return block
