"""A form that is declared by a state and a table of controls: what is typed becomes the state, or is marked."""

import dataclasses

import pytest

from workbench.errors import InputError
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.builders.bubble_builder import CONTROLS
from workbench.live.ui.declared_form import Control, DeclaredForm, fields_of
from workbench.live.ui.field_form import field_schema
from workbench.live.ui.form_schema import parameter_schema
from workbench.registry import parameter


@dataclasses.dataclass(frozen=True)
class Heat:
    n: int = parameter(32, "cells per side", low=4, high=512)
    shape: str = parameter("sine", "what is heated", choices=("sine", "step"))
    dimensions: int = parameter(2, "2 or 3", low=2, high=3)


TABLE = (Control("n", "Cells", "more is slower"), Control("shape", folded=True), Control("dimensions"))


@pytest.fixture
def form():
    heard = []
    made = DeclaredForm(Heat(), TABLE, title="Heat", changed=heard.append)
    return made, heard


def test_what_is_typed_becomes_the_state_and_is_reported(form):
    made, heard = form
    made.set("n", "64")
    made.set("shape", "step")
    assert made.state == Heat(64, "step") == heard[-1]
    assert len(heard) == 2
    made.undo()
    assert made.state == Heat(64) == heard[-1]
    made.redo()
    made.reset()
    assert made.state == Heat() == heard[-1]


def test_a_wrong_value_is_marked_at_its_field_and_changes_nothing(form):
    made, heard = form
    made.set("n", "2")
    assert made.box.state["wrong"] == {"n": "Cells must be between 4 and 512, got 2"}
    assert heard == []
    with pytest.raises(InputError, match="n must be between 4 and 512"):
        _ = made.state
    made.undo()
    assert (made.state, made.box.state["wrong"]) == (Heat(), {})


def test_a_wrong_value_is_told_and_one_that_is_loaded_can_be_undone():
    told, heard = [], []
    made = DeclaredForm(Heat(), TABLE, changed=heard.append, refused=told.append)
    assert not made.can_undo
    made.set("n", "2")
    assert (made.marked, told, heard) == (
        "Cells must be between 4 and 512, got 2",
        ["n must be between 4 and 512, got 2"],
        [],
    )
    made.load(Heat(64))
    assert (made.state, heard, made.marked) == (Heat(64), [Heat(64)], "")
    made.undo()
    assert (made.state, made.can_undo, made.can_redo) == (Heat(), False, True)


def test_values_that_are_wrong_together_are_marked_at_the_field_that_was_changed():
    @dataclasses.dataclass(frozen=True)
    class Even(Heat):
        def __post_init__(self) -> None:
            if self.dimensions == 3 and self.n > 64:
                raise InputError("n is too large for a cube")

    made = DeclaredForm(Even(128), TABLE)
    made.set("dimensions", 3)
    assert made.box.state["wrong"] == {"dimensions": "n is too large for a cube"}
    assert made.marked.endswith("n is too large for a cube")
    made.set("n", "64")
    assert (made.state, made.marked) == (Even(64, dimensions=3), "")


def test_a_listener_hears_of_each_state_that_is_sent(form):
    made, _ = form
    sent = []
    made.on_show.add(lambda: sent.append(made.box.state["values"]["n"]))
    made.set("n", "64")
    made.set("n", "2")
    assert sent == [64, 2]


def test_the_table_says_labels_help_and_what_is_folded(form):
    schema = form[0].box.schema
    assert (schema["main"], schema["advanced"]) == (["n", "dimensions"], ["shape"])
    assert schema["settings"]["n"]["label"] == "Cells"
    assert schema["settings"]["n"]["about"] == "more is slower"
    assert schema["settings"]["shape"]["kind"] == "choice"


def test_dimensions_are_the_same_two_buttons_in_build_and_in_flow():
    build = field_schema(fields_of(CONTROLS[:1])["dimensions"])
    (declared,) = (each for each in RisingBubbles.parameters() if each.name == "dimensions")
    for schema in (build, parameter_schema(declared, RisingBubbles.name)):
        assert (schema["kind"], schema["choices"]) == ("segments", [[2, "2D"], [3, "3D"]])
        assert " to " not in schema["about"]
