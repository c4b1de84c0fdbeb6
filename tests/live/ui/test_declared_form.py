"""A form that is declared by a state and a table of controls: what is typed becomes the state, or is marked."""

import dataclasses

import pytest

from workbench.errors import InputError
from workbench.extensions.flow.rising_bubbles import RisingBubbles
from workbench.live.builders.bubble_builder import CONTROLS
from workbench.live.ui.declared_form import Control, DeclaredForm, fields_of
from workbench.live.ui.field_form import field_schema
from workbench.live.ui.form_schema import parameter_schema
from workbench.registry import Block, Parameter, as_block, parameter


@dataclasses.dataclass(frozen=True)
class Heat:
    n: int = parameter(32, "cells per side", low=4, high=512)
    shape: str = parameter("sine", "what is heated", choices=("sine", "step"))
    dimensions: int = parameter(2, "2 or 3", low=2, high=3)


class Mine(type(as_block("preconditioner", "jacobi"))):
    name = "mine"


GO = Parameter("go", str, "Go", "")
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


def test_a_listener_hears_of_each_state_that_is_sent(form):
    made, _ = form
    sent = []
    made.on_show.add(lambda: sent.append(made.box.state["values"]["n"]))
    made.set("n", "64")
    made.set("n", "2")
    assert sent == [64, 2]


def test_a_state_is_changed_and_renewed_by_code_and_reported_where_the_page_shows_it(form):
    made, heard = form
    made.set("n", "2")
    made.change(shape="step")
    # It is the last state that was right, with another value.
    assert made.present == made.state == Heat(shape="step") == heard[-1]
    made.change(shape="step")
    made.renew()
    assert len(heard) == 1


@dataclasses.dataclass(frozen=True)
class Level:
    preconditioner: Block
    n: int = parameter(32, "cells per side", low=4, high=512)


def test_a_field_that_is_a_block_is_a_choice_with_the_parameters_of_the_block():
    heard, wrong = [], []
    names = ("jacobi", "neumann")
    table = (Control("preconditioner", names=names), Control("n"), Control("go", rule=GO, looks={"kind": "press"}))
    made = DeclaredForm(
        Level(as_block("preconditioner", "neumann:2")),
        table,
        changed=heard.append,
        wrong=wrong.append,
        acts={"go": lambda: heard.append("go")},
    )
    assert tuple(made.box.schema["blocks"]["preconditioner"]) == names
    made.set("preconditioner.order", "3")
    assert made.state.preconditioner.spec == "neumann:3"
    made.set("preconditioner.order", "0")
    assert wrong == ["neumann: order must be between 1 and 16, got 0"]
    made.set("preconditioner", "jacobi")
    made.set("preconditioner", "ic")
    assert heard[-1] == made.present == Level(as_block("preconditioner", "jacobi"))
    # Choosing the block again begins with its defaults.
    made.set("preconditioner", "neumann")
    assert made.box.state["values"]["preconditioner.order"] == 2
    made.undo()
    assert made.state.preconditioner.name == "jacobi"
    made.set("go", True)
    assert heard[-1] == "go"
    with pytest.raises(InputError, match="mine is no preconditioner that the form offers"):
        made.change(preconditioner=Mine())
    assert made.state.preconditioner.name == "jacobi"


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
