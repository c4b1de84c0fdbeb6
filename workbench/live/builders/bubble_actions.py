"""The acts that the canvas of bubbles asks for in JSON, carried out on the model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.live.builders.bubble_drawing import Row
from workbench.live.builders.bubble_model import BubbleModel

Message = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Refused:
    """A bubble that cannot lie where it was put. index: of the bubble, or how many there are for a further one."""

    index: int
    row: Row


def perform(model: BubbleModel, message: Message) -> None:
    """Carry out the `act` of a message. Raises InputError, and then the model is unchanged."""
    act = message.get("act")
    if act not in ACTS:
        raise InputError(f"unknown act {act!r}; known: {', '.join(ACTS)}")
    ACTS[act](model, message)


def refused_row(model: BubbleModel, message: Message) -> Refused | None:
    """The bubble that a refused message was about, so that it can be drawn; None where it has no place."""
    try:
        if message.get("act") == "place":
            return Refused(int(message["index"]), _row(model, message))
        if message.get("act") == "add":
            centre, radius = _added(model, message)
            return Refused(len(model.drawing.rows), (*centre, model.fitting(centre) if radius is None else radius))
    except InputError:
        pass
    return None


def _add(model: BubbleModel, message: Message) -> None:
    centre, radius = _added(model, message)
    model.add(centre, radius)


def _place(model: BubbleModel, message: Message) -> None:
    model.place(int(message["index"]), _row(model, message), message.get("stroke"))


def _added(model: BubbleModel, message: Message) -> tuple[Row, float | None]:
    number = len(model.drawing.rows) + 1
    names = "xyz"[: model.drawing.dimensions]
    if "centre" not in message:
        return model.free_place(), None
    centre = _numbers(message["centre"], names, number)
    radius = message.get("radius")
    return centre, None if radius is None else _numbers([radius], "r", number)[0]


def _row(model: BubbleModel, message: Message) -> Row:
    return _numbers(message["row"], "xyz"[: model.drawing.dimensions] + "r", int(message["index"]) + 1)


def _numbers(values: Any, names: str, bubble: int) -> Row:
    """Values of a message, numbers or typed text, as numbers. Raises InputError for any other."""
    if len(values) != len(names):
        raise InputError(f"bubble {bubble} needs {len(names)} numbers ({', '.join(names)}), got {len(values)}")
    read = []
    for name, value in zip(names, values, strict=True):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{name} of bubble {bubble} must be a number in side lengths, got {value!r}")
        read.append(number)
    return tuple(read)


ACTS: dict[str, Callable[[BubbleModel, Message], None]] = {
    "add": _add,
    "place": _place,
    "delete": lambda model, message: model.delete(int(message.get("index", model.selected))),
    "clear": lambda model, message: model.clear(),
    "select": lambda model, message: model.select(int(message["index"])),
    "undo": lambda model, message: model.undo(),
    "redo": lambda model, message: model.redo(),
    "preset": lambda model, message: model.preset(str(message["name"])),
    "change": lambda model, message: model.change(message["values"]),
    "side": lambda model, message: model.set_side(str(message["side"]), str(message["to"])),
    "forget": lambda model, message: None,
    "show": lambda model, message: model.show(int(message["dimensions"])),
}
"""The acts of a message, by name. The act "forget" drops a complaint and changes nothing drawn."""
