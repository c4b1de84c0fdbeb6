"""The form next to the canvas of bubbles: the problem's parameters, presets, random bubbles, sides, deflation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.builders.bubble_model import CLASSES, KEPT, Drawing, presets
from workbench.live.builders.sides_field import SidesField
from workbench.live.ui.field_form import FieldForm
from workbench.live.ui.form_fields import BlockChoice, Field
from workbench.problems.bubbles import Bubbles2D
from workbench.problems.sides import side_names
from workbench.registry import Parameter

RANDOM = ("count", "radius", "geometry_seed")
PLACE = "place"
DIMENSIONS = Parameter("dimensions", int, 2, "bubbles in the unit square, or in the unit cube")
AT_RANDOM = Parameter(PLACE, str, "", "the same seed places the same bubbles; Undo leads back")
OTHER_SIDES = "the other sides are walls (Neumann)"

Ask = Callable[..., None]


class BubbleForm(FieldForm):
    """Asks for the changes of its user, by act and values, and shows a drawing.

    deflation_changed is called without values; `read_deflation` reads the fields. reset: shows what was there at first.
    """

    def __init__(
        self,
        ask: Ask,
        deflation_changed: Callable[[], None],
        reset: Callable[[], None],
        drawing: Drawing,
        deflation: Deflation,
    ) -> None:
        self._ask, self._deflation_changed = ask, deflation_changed
        self._shown: Drawing | None = None
        self._choice = BlockChoice("deflation", lambda: None, deflation.name)
        self._choice.load(deflation)
        declared = {item.name: item for item in Bubbles2D.parameters()}
        place = {"kind": "press", "label": "Place at random", "code": "", "about": AT_RANDOM.help}
        choices = {
            "kind": "segments",
            "label": "Dimensions",
            "code": "",
            "choices": [[2, "2D"], [3, "3D"]],
            "about": "",
        }
        fields: dict[str, Field] = {
            "dimensions": Field(DIMENSIONS, **choices),
            **{name: Field(declared[name], Bubbles2D.name) for name in ("n", "density_ratio")},
            "sides": SidesField(declared["sides"], "Fixed pressure (Dirichlet)", OTHER_SIDES, 2),
            "count": Field(declared["count"], Bubbles2D.name, heading="Random bubbles"),
            **{name: Field(declared[name], Bubbles2D.name) for name in ("radius", "geometry_seed")},
            PLACE: Field(AT_RANDOM, **place),
        }
        super().__init__(
            fields,
            [self._choice],
            title="Bubbles",
            about="Bubbles",
            main=("dimensions", *KEPT, "deflation", *RANDOM, PLACE),
            example={"label": "Preset", "hint": "Choose an arrangement …", "names": []},
            acts={"undo": lambda: ask("undo"), "redo": lambda: ask("redo"), "reset": reset, PLACE: self._place},
            typed=self._take,
        )
        self.show_drawing(drawing)

    def read_deflation(self) -> Deflation:
        """The deflation that is chosen. Raises InputError for a wrong value, which is then marked."""
        self.check()
        wrong = [name for name, field in self._choice.all_fields() if field.wrong]
        self.complaints = {name: said for name, said in self.complaints.items() if not name.startswith("deflation")}
        try:
            block = self._choice.block()
        except InputError as error:
            self.complain(wrong[0] if wrong else "deflation", error)
            raise
        assert isinstance(block, Deflation)
        return block

    def load_deflation(self, deflation: Deflation) -> None:
        """Show a deflation block."""
        self._choice.load(deflation)

    def show_drawing(self, drawing: Drawing, *, complete: bool = False) -> None:
        """Show a drawing. Without `complete` only fields that differ from the last drawing are set, so that typed text
        stays."""
        before, self._shown = None if complete else self._shown, drawing
        if before is None or before.dimensions != drawing.dimensions:
            self._turn(drawing)
        values, known = drawing.parameters.parameter_values, before and before.parameters.parameter_values
        for name in KEPT:
            if known is None or values[name] != known[name]:
                self.settings[name].put(values[name])
        # Parameters of a random layout, so that "Place at random" repeats it; else the number of bubbles.
        placed = _random_values(drawing)
        if placed and (before is None or placed != _random_values(before)):
            for name, value in placed.items():
                self.settings[name].put(value)
        self.check()
        self.show()

    def complain(self, name: str, error: InputError) -> None:
        """Show an error at the field that asked for the change; one of the canvas, which is no field, as it is."""
        field = self.fields().get(name)
        self.complaints[name] = field.sentence(error) if field is not None else str(error)

    def take_example(self, name: str) -> None:
        """Arrange the bubbles as in a preset."""
        self._ask("preset", name=name)

    def random_values(self) -> dict[str, Any]:
        """The parameters of the random layout that the fields ask for, as they were typed."""
        return {"layout": "random", **{name: self.settings[name].value for name in RANDOM}}

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
        elif name in RANDOM:
            self._ask("forget", source=PLACE)
        else:
            self._deflation_changed()

    def _place(self) -> None:
        if not any(self.settings[name].wrong for name in RANDOM):
            self._ask("change", source=PLACE, values=self.random_values())


def _random_values(drawing: Drawing) -> dict[str, Any]:
    """The parameters by which a drawing was placed at random, else the number of its bubbles; none for an empty one."""
    if drawing.empty:
        return {}
    if drawing.parameters.layout == "random":
        values = drawing.parameters.parameter_values
        return {name: values[name] for name in RANDOM}
    return {"count": len(drawing.rows)}
