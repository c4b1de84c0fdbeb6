"""The form of a builder as the page has it: what is typed, pressed, uploaded and shown; small matrices as files."""

from __future__ import annotations

from typing import Any

from tests.live.conftest import page_says
from tests.waiting import LIMIT

SMALL = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 4\n3 3 4\n3 1 -1\n"
HERMITIAN = b"%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 4 0\n2 2 4 0\n2 1 1 1\n"
COMPLEX_SYMMETRIC = b"%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 4 1\n2 2 -4 1\n2 1 1 1\n"
SINGULAR = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 -1\n"
INDEFINITE = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 -1\n2 1 1\n"
UNSYMMETRIC = b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 4\n1 2 1\n"


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


def upload(builder: Any, name: str, content: bytes) -> None:
    """Give a file to the builder of matrices."""
    given = {"name": name, "size": len(content)}
    builder.form.receive({"kind": "set", "field": "upload", "value": given, "content": content})
    assert builder.wait(LIMIT)


def take(builder: Any, source: str, text: str) -> None:
    """Choose a source of a matrix and its text."""
    builder.form.set("source", source)
    choose(builder, source, text)
