"""The text form of boundary conditions."""

import pytest

from tests.conftest import refusal
from workbench.problems.sides import Boundary, is_closed, parse_sides, side_names


def test_a_single_condition_is_for_all_sides():
    assert parse_sides("neumann", 2) == dict.fromkeys(["x-", "x+", "y-", "y+"], Boundary.NEUMANN)
    assert set(parse_sides("dirichlet", 3).values()) == {Boundary.DIRICHLET}
    assert side_names(3) == ("x-", "x+", "y-", "y+", "z-", "z+")


def test_sides_not_in_the_list_are_neumann():
    sides = parse_sides(" x-:dirichlet , z+: dirichlet,y-:neumann", 3)
    assert {side for side, boundary in sides.items() if boundary is Boundary.DIRICHLET} == {"x-", "z+"}


@pytest.mark.parametrize(
    ("text", "closed"), [("neumann", True), ("x-:neumann", True), ("y+:dirichlet", False), ("dirichlet", False)]
)
def test_closed_means_neumann_everywhere(text, closed):
    assert is_closed(text, 2) is closed


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("neuman", "unknown boundary condition 'neuman'; did you mean neumann?"),
        ("z-:dirichlet", "unknown side 'z-'; did you mean"),
        ("x-:dirichlet,x-:neumann", "sides names x- twice; name each side once"),
        ("x-:dirichlet,y-", "sides needs entries such as x-:dirichlet, got 'y-'"),
        ("x-:wall", "unknown boundary condition 'wall'; known: neumann, dirichlet"),
        ("", "unknown boundary condition ''; known: neumann, dirichlet"),
    ],
)
def test_invalid_text_is_refused(text, sentence):
    assert refusal(parse_sides, text, 2).startswith(sentence)
