"""The registry and parameter declarations."""

import dataclasses
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems import problem_from_text
from workbench.registry import Block, find, parameter, register
from workbench.run import solve


@dataclasses.dataclass(frozen=True)
class Toy(Block):
    kind: ClassVar[str] = "toy"
    name: ClassVar[str] = "spinner"
    speed: int = parameter(3, "turns a second", low=1, high=9, unit="1/s")
    sound: bool = parameter(False, "whether it hums")
    colour: str = parameter("red", "its colour", choices=("red", "green"))


register(Toy)


@register
@dataclasses.dataclass(frozen=True)
class Spool(Block):
    kind: ClassVar[str] = "toy"
    name: ClassVar[str] = "spool"
    path: str = parameter("", "a file")


def test_text_is_converted_to_the_declared_kind():
    assert find("toy", "spinner:5", sound="yes", colour="green") == Toy(5, True, "green")


def test_parameters_by_name_after_the_colon():
    assert find("toy", "spinner:sound=yes,colour=green") == Toy(3, True, "green")
    assert find("toy", "spinner:speed=4, sound=no", colour="green") == Toy(4, False, "green")
    with pytest.raises(InputError, match="unknown parameter 'sped'; did you mean speed"):
        find("toy", "spinner:sped=4")
    with pytest.raises(InputError, match="parameters are written key=value,key=value, got 'yes'"):
        find("toy", "spinner:speed=4,yes")


def test_commas_within_brackets_and_quotes_belong_to_the_value():
    assert find("toy", 'spool:path="/a,b=(c\\".npz"') == Spool('/a,b=(c".npz')
    assert find("toy", "spool:path=max(1, (2), 3)") == Spool("max(1, (2), 3)")
    assert find("toy", 'spool:path="') == Spool('"')
    for block in (Spool('a"'), Spool("a=b"), Spool("(,"), Spool(" x\\, "), Toy(3, True), Toy(4), Toy()):
        assert find("toy", block.text) == block
    assert (Toy(4).text, Toy(3, True).text, Spool("a=b").text) == ("spinner:4", "spinner:sound=True", "spool:path=a=b")


def test_a_path_with_an_equals_sign_is_one_argument():
    assert find("toy", "spool:/a/b=c.npz") == Spool("/a/b=c.npz")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"speed": 10}, "spinner: speed must be between 1 and 9, got 10"),
        ({"speed": 2.5}, "spinner: speed must be a whole number, got 2.5"),
        ({"speed": "fast"}, "spinner: speed must be a whole number, got 'fast'"),
        ({"speed": "f" * 999}, f"spinner: speed must be a whole number, got '{'f' * 59}…'"),
        ({"colour": "f" * 999}, f"spinner: unknown colour '{'f' * 59}…'; known: red, green"),
        ({"speed": None}, "spinner: speed must be a whole number, got None"),
        ({"sound": "perhaps"}, "spinner: sound must be true or false, got 'perhaps'"),
        ({"colour": "gren"}, "spinner: unknown colour 'gren'; did you mean green?"),
    ],
)
def test_invalid_values_raise_one_sentence(values, sentence):
    assert refusal(Toy, **values) == sentence


def test_integral_floats_are_accepted_as_integers():
    assert Toy(4.0).speed == 4


def test_names_are_found_whatever_their_capitals():
    assert find("toy", "Spinner:5,colour=GREEN") == Toy(5, colour="green")
    assert find("preconditioner", "AMG:SA") == find("preconditioner", "amg:sa")
    assert find("preconditioner", "IC + Jacobi").text == "IC + Jacobi"
    assert solve(np.eye(3), np.ones(3), M="Jacobi", solver="CG").converged
    assert problem_from_text("Two-Layer:8").n == 8
    with pytest.raises(InputError, match="unknown toy 'SPINER'; did you mean spinner"):
        find("toy", "SPINER")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("ilu", "ic"), ("ILU(0)", "ic"), ("cholesky", "ic"), ("diagonal", "jacobi"), ("Gauss-Seidel", "ssor"),
     ("hypre", "amg"), ("identity", "none"), ("sor", "ssor"), ("icc", "ic")],
)  # fmt: skip
def test_names_of_other_programs_lead_to_ours(name, meant):
    with pytest.raises(InputError, match=f"unknown preconditioner .*; did you mean {meant}\\?$"):
        find("preconditioner", name)


def test_unknown_names_list_all_known_ones():
    with pytest.raises(InputError, match="unknown toy 'zzz'; known: spinner"):
        find("toy", "zzz")


def test_an_argument_for_a_block_without_parameters_is_refused():
    import workbench.preconditioners  # noqa: F401

    with pytest.raises(InputError, match="jacobi takes no argument, got '2'"):
        find("preconditioner", "jacobi:2")


def test_changed_keeps_other_parameters():
    assert Toy(5, True).changed({"colour": "green"}) == Toy(5, True, "green")


def test_duplicate_names_are_refused():
    @dataclasses.dataclass(frozen=True)
    class Other(Block):
        kind: ClassVar[str] = "toy"
        name: ClassVar[str] = "spinner"

    with pytest.raises(ValueError, match="two blocks of kind toy are named spinner"):
        register(Other)


@pytest.mark.parametrize("spec", ["neumann:order=2,order=3", "neumann:order=2, order = 2"])
def test_a_parameter_given_twice_is_refused(spec):
    with pytest.raises(InputError, match="neumann: parameter order is given twice in 'order=2, ?order"):
        find("preconditioner", spec)


@pytest.mark.parametrize("line", ["find('problem', 'two-layer')", "catalogue()['solver'][0]"])
def test_blocks_are_found_by_a_process_that_imports_the_registry_alone(line):
    lines = f"from workbench.registry import catalogue, find; {line}"
    subprocess.run([sys.executable, "-c", lines], check=True, timeout=120)
