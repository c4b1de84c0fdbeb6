"""The form of a builder as the page has it: what is typed, pressed and shown."""

from __future__ import annotations

from typing import Any

from tests.live.conftest import page_says
from tests.waiting import LIMIT


def choose(builder: Any, name: str, value: object) -> None:
    """Type or choose a value, and wait until all that follows is done."""
    builder.form.set(name, value)
    assert builder.wait(LIMIT)


def press(builder: Any, kind: str, name: str = "") -> None:
    """Press Undo, Redo or Reset, or choose an example by its name."""
    builder.form.receive({"kind": kind, "field": name})
    assert builder.wait(LIMIT)


def say(builder: Any, **message: object) -> None:
    """Do something on the canvas."""
    page_says(builder.canvas, message)
    assert builder.wait(LIMIT)


def state(builder: Any, name: str, of: str = "values") -> Any:
    """The value of a field on the page, or another of its facts; "" where it has none."""
    return builder.form.box.state[of].get(name, "")


def wrong(builder: Any) -> dict[str, str]:
    """The sentences of all fields that are marked."""
    return builder.form.box.state["wrong"]
