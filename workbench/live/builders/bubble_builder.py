"""Bubbles drawn by hand: a canvas on which a problem is built, and the form next to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_editor import BubbleEditor, BubblePainter, PictureRequest
from workbench.live.builders.bubble_model import CLASSES, EMPTY, KEPT, RANDOM, BubbleModel, Drawing, in_words, presets
from workbench.live.builders.live_solve import LivePanel
from workbench.live.builders.sides_field import SidesField
from workbench.live.transport.publisher import Publisher
from workbench.live.ui.controls import button
from workbench.live.ui.declared_form import Control, fields_of, folded
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.listeners import Listeners
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import View
from workbench.problems.bubbles import Bubbles, Bubbles2D
from workbench.problems.sides import side_names
from workbench.registry import Block, Parameter, find
from workbench.run import Configuration

PATIENCE = 20.0
"""Seconds that reading the problem waits for changes under way."""
PLACE = "place"
DIMENSIONS = Parameter("dimensions", int, 2, "square or cube", low=2, high=3)
AT_RANDOM = Parameter(PLACE, str, "", "the same seed places the same bubbles")
CONTROLS = (
    Control("dimensions", "Dimensions", rule=DIMENSIONS),
    Control("n"),
    Control("density_ratio"),
    Control("sides", "Fixed pressure (Dirichlet)", of=SidesField, looks={"about": ""}),
    Control("count", "Bubbles", folded=True, looks={"heading": "Random bubbles"}),
    Control("radius", "Radius", "0 = automatic", folded=True),
    Control("geometry_seed", "Seed", folded=True),
    Control(PLACE, "Place at random", rule=AT_RANDOM, folded=True, looks={"kind": "press"}),
)
"""Those of the form of bubbles."""

Ask = Callable[..., None]


class BubbleForm(FieldForm):
    """Asks for the changes of its user, by act and values, and shows a drawing. undo: takes the last change back.
    reset: shows the first drawing."""

    def __init__(self, ask: Ask, undo: Callable[[], None], reset: Callable[[], None], drawing: Drawing) -> None:
        self._ask = ask
        self._shown: Drawing | None = None
        declared = {item.name: item for item in Bubbles2D.parameters()}
        fields = fields_of(CONTROLS, declared, Bubbles2D.name)
        away = folded(CONTROLS)
        super().__init__(
            fields,
            title="Bubbles",
            about="Bubbles",
            main=[name for name in fields if name not in away],
            advanced=away,
            example={"label": "Preset", "hint": "Choose an arrangement …", "names": []},
            acts={"undo": undo, "redo": lambda: ask("redo"), "reset": reset, PLACE: self._place},
            typed=self._take,
        )
        self.show_drawing(drawing)

    def show_drawing(self, drawing: Drawing, *, complete: bool = False) -> None:
        """Show a drawing. Without `complete` only fields that differ from the last drawing are set, so that typed text
        stays."""
        before, self._shown = None if complete else self._shown, drawing
        if before is None or before.dimensions != drawing.dimensions:
            self._turn(drawing)
        if complete:
            for name in RANDOM:
                self.settings[name].put(self.settings[name].declared.default)
        values, known = drawing.parameters.parameter_values, before and before.parameters.parameter_values
        for name in KEPT:
            if known is None or values[name] != known[name]:
                self.settings[name].put(values[name])
        # Parameters of a random layout, so that "Place at random" repeats it; else the number of bubbles.
        if drawing.placed and (before is None or drawing.placed != before.placed):
            for name, value in drawing.placed.items():
                self.settings[name].put(value)
        self.check()
        self.show()

    def complain(self, name: str, error: InputError) -> None:
        """Show an error at the field that asked for the change; one of the canvas, which is no field, as it is."""
        field = self.fields().get(name)
        self.complaints[name] = field.sentence(error) if field is not None else str(error)

    @property
    def has_wrong_text(self) -> bool:
        """True while a field is marked, so that there is something to take back."""
        return any(field.wrong or name in self.complaints for name, field in self.fields().items())

    def take_example(self, name: str) -> None:
        """Arrange the bubbles as in a preset."""
        self._ask("preset", name=name)

    def _turn(self, drawing: Drawing) -> None:
        """Turn to the other number of dimensions, in which parameters have other bounds."""
        cls = CLASSES[drawing.dimensions]
        self.declare(cls)
        self.settings["dimensions"].put(drawing.dimensions)
        self.settings["sides"].options = side_names(drawing.dimensions)
        self.settings["sides"].put(drawing.parameters.sides)
        self.settings["count"].put(cls().count)
        self.extra["examples"] = list(presets(drawing.dimensions))

    def _take(self, name: str) -> None:
        """Ask for the change of a field; the builder answers by `show_drawing`."""
        if name == "dimensions":
            self._ask("show", dimensions=self.settings[name].value)
        elif name in KEPT:
            self._ask("change", values={name: self.settings[name].value})
        else:
            self._ask("forget", source=PLACE)

    def _place(self) -> None:
        if not any(self.settings[name].wrong for name in RANDOM):
            typed = {name: self.settings[name].value for name in RANDOM}
            self._ask("change", source=PLACE, values={"layout": "random", **typed})


class BubbleBuilder(View):
    """A canvas for `Bubbles2D` and `Bubbles3D`. Display it, then run `problem`.

    problem: at first, by default four bubbles in a square. deflation: a block, or text that `find` reads, such as
    "levelset:0"; it is only drawn. publisher: of the dashboard around it. configuration: returns that of the page: its
    deflation is drawn, and its method solves while a bubble is dragged. An impossible position is shown as refused,
    with the reason; the last valid one remains the value. Raises InputError for another problem.

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
        self._first = Drawing(_bubbles(problem or Bubbles2D()))
        self._deflation, self._configuration = _deflation(deflation or "none"), configuration
        self._note = ""
        """The sentence on a bubble that went back, until the next act."""
        self._listeners = Listeners("the bubble builder")
        self._editor = BubbleEditor(BubbleModel(self._first), self._answered, publisher)
        self._lock, self._acts, self.canvas = self._editor.lock, self._editor.acts, self._editor.canvas
        self._painter = BubblePainter(self._requested, self.canvas.paint)
        self.form = BubbleForm(self._ask, self.undo, self._reset, self._first)
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
    def wrong(self) -> str:
        """Empty: the last drawing that is right stays the problem, and an empty canvas is no mistake."""
        return ""

    @property
    def obstacle(self) -> str:
        """Why what is shown cannot be solved: a field that is marked, or no bubble; empty where it can."""
        with self._lock:
            return self.form.marked or (EMPTY if self._model.drawing.empty else "")

    @property
    def deflation(self) -> Deflation:
        """The second level that is drawn: that of the page where it can be read, else the last one given."""
        if self._configuration is not None:
            with contextlib.suppress(InputError):
                self._deflation = self._configuration().deflation
        return self._deflation

    def on_change(self, callback: Callable[[BubbleBuilder], object]) -> Callable[[], None]:
        """Call with the builder after each change of `problem`; returns a function that ends this.

        The callback runs in the thread that made the change and must return at once. None is made for an empty canvas.
        """
        self._listeners.add(callback)
        return lambda: self._listeners.forget(callback)

    def wait(self, timeout: float = PATIENCE) -> bool:
        """Wait until changes under way are made, considered and drawn; False if one takes longer than `timeout`
        seconds."""
        return self._acts.wait(timeout) and self.live.wait(timeout) and self._painter.wait(timeout)

    def undo(self) -> None:
        """Take the last change back; where that is a wrong text, show the value before it."""
        self._acts.ask(self._take_back)

    def load(self, problem: Bubbles, deflation: Deflation | str | None = None) -> None:
        """Show a problem, and a deflation where one is given. Raises InputError for others.

        Undo leads back to the problem before in the same number of dimensions; a deflation is not undone.
        """
        _bubbles(problem)
        block = None if deflation is None else _deflation(deflation)
        self._acts.wait(PATIENCE)
        with self._lock:
            before = self._model.drawing
            self._model.load(problem)
            self._deflation = block or self._deflation
            self.form.complaints, self._note = {}, ""
            self._editor.take(self._model)
            self.form.show_drawing(self._model.drawing, complete=True)
            self._show()
            self._report(before)
        self.live.changed()

    def hide(self, hidden: bool) -> None:
        """Stop solving while another page is in front, and resume when this one is again."""
        self.live.hide(hidden)
        if not hidden:
            self._painter.ask()

    def close(self) -> None:
        """Take it off the page."""
        self.live.close()
        self._editor.close()
        self._painter.close()
        super().close()

    def _layout(self) -> widgets.Box:
        bar = widgets.HBox([*self.buttons.values(), self.live.switch]).add_class("wb-buttons")
        drawn = widgets.HBox([self.canvas, self.live.box]).add_class("wb-drawn")
        views = widgets.VBox([bar, self.status, drawn]).add_class("wb-views")
        body = widgets.HBox([self.form.box.add_class("wb-formside"), views]).add_class("wb-body")
        return widgets.VBox([body]).add_class("wb-explorer").add_class("wb-build")

    def _ask(self, act: str, **values: object) -> None:
        self._editor.receive({"act": act, **values})

    def _answered(self, message: Mapping[str, Any], before: Drawing, refusal: InputError | None) -> None:
        source = _source(message)
        for name in {"canvas", source}:
            self.form.complaints.pop(name, None)
        # A bubble that was let go lies where it fits, so nothing is wrong any more.
        let_go = refusal is not None and bool(message.get("done"))
        self._note = _returned(message, refusal) if refusal and let_go else ""
        if refusal and not let_go:
            self.form.complain(source, refusal)
        self._forget_what_changed(before)
        self._show()
        self._report(before)
        self.live.changed(moving=bool(message.get("moving")))

    def _take_back(self) -> None:
        with self._lock:
            if not self.form.has_wrong_text:
                self._ask("undo")
                return
            self.form.complaints = {}
            self.form.show_drawing(self._model.drawing, complete=True)
            self._show()

    def _forget_what_changed(self, before: Drawing) -> None:
        """Drop the complaints about fields whose value has changed."""
        known, values = before.parameters.parameter_values, self._model.drawing.parameters.parameter_values
        for name in KEPT:
            if known[name] != values[name]:
                self.form.complaints.pop(name, None)

    def _show(self) -> None:
        history = self._model.history
        self.form.check()
        self.form.offer_undo(undo=history.can_undo or self.form.has_wrong_text, redo=history.can_redo)
        self.form.show_drawing(history.present)
        self.buttons["delete"].disabled = self._model.selected < 0
        self.buttons["clear"].disabled = history.present.empty
        self._editor.show()
        # The sentence of a field stands at that field.
        wrong = self.form.complaints.get("canvas", "")
        said = wrong or self._note or in_words(history.present, self._model.selected)
        self.status.say(said, "bad" if wrong else "plain")
        self._painter.ask()

    def _drawn(self) -> tuple[Drawing, Deflation]:
        with self._lock:
            drawing = self._model.drawing
        return drawing, self.deflation

    def _report(self, before: Drawing) -> None:
        if self._model.drawing != before and not self._model.drawing.empty:
            self._listeners.notify(self)

    def _reset(self) -> None:
        self._acts.ask(lambda: self.load(self._first.parameters))

    def _requested(self) -> PictureRequest:
        drawing, deflation = self._drawn()
        return PictureRequest(drawing, deflation, self.canvas.normal, self.canvas.position)


def _source(message: Mapping[str, Any]) -> str:
    """The field that a complaint is about. The complaint stays until a message from that field, or a new value in
    it."""
    values = message["values"] if message["act"] == "change" else {}
    return str(message.get("source") or (next(iter(values)) if len(values) == 1 else "canvas"))


def _returned(message: Mapping[str, Any], refusal: InputError) -> str:
    """The sentence for a bubble that was let go where it cannot lie, and that lies where it did before."""
    reason = str(refusal).partition(";")[0]
    if message["act"] == "place":
        return f"Bubble {int(message['index']) + 1} went back to where it fits: {reason}."
    return f"No bubble was added: {reason}."


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
