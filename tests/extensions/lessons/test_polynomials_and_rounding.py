"""Lessons 2 and 3: a wrong answer gets a reason that is computed for it."""

import re

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons import lesson, polynomials, rounding
from workbench.extensions.lessons.residual_polynomials import cg_on
from workbench.run import configure
from workbench.stepping.line_by_line import walk
from workbench.words.numbers import number


def sentence(name, exercise, answer):
    """Why an answer is wrong."""
    verdict = lesson(name).exercises[exercise - 1].check(answer)
    assert not verdict.right
    assert str(verdict).startswith("Not yet: ")
    return verdict.sentence


def test_too_few_iterations_leave_the_error_that_their_zeros_leave():
    made = cg_on([1, 2, 5, 100])
    for steps in (0, 1, 3):
        said = sentence("polynomials", 1, steps)
        assert f"still {number(made.error[steps])} of its initial value" in said
        assert all(f"{zero:.4g}" in said for zero in made.ritz(steps))
    assert "already after 4 iterations" in sentence("polynomials", 1, 9)


def test_a_spectrum_is_judged_by_its_own_polynomial():
    said = sentence("polynomials", 2, "1 2 5 10 50 100 500 1000")
    assert number(cg_on([1, 2, 5, 10, 50, 100, 500, 1000]).error[3]) in said
    check = lesson("polynomials").exercises[1].check
    # A cluster that is just narrow enough for a thousandth, and one that is just too wide.
    near = [
        check(" ".join(map(repr, [1.0, *(1 + k * step for k in range(1, 7)), 1000.0])))
        for step in (0.0179005, 0.0179007)
    ]
    assert [each.right for each in near] == [True, False]
    assert "the error is 9.9999 × 10⁻⁴ of" in near[0].sentence.replace("\u202f", " ")
    assert "still 0.00100001 of its initial value" in near[1].sentence


@pytest.mark.parametrize(
    ("answer", "why"),
    [("1", "has 1 eigenvalue, and 8"), ("1 2 1000", "has 3 eigenvalues, and 8 different ones are asked for"),
     ("1 1 2 3 4 5 6 7 1000", "has 9 eigenvalues, some of them equal"), ("one two", "a number such as"),
     ("1 2 3 4 5 6 7 9", "reaches from 1.00 to 9.00, and eigenvalues from 1.00 to 1000 are asked for"),
     ("1.0000001 2 3 4 5 6 7 1000", "from 1.0000001 to 1000, and eigenvalues from 1.0000000 to"),
     ("1 2 3 4 5 6 7 1000000.1", "eigenvalues are between 10⁻⁶ and 10⁶, got 1000000.1")],
)  # fmt: skip
def test_eigenvalues_that_are_not_those_of_the_question_are_refused_and_are_no_try(answer, why):
    with pytest.raises(InputError, match=re.escape(why)):
        lesson("polynomials").exercises[1].check(answer)


def test_the_eigenvalue_to_deflate_depends_on_b_which_the_question_states():
    *others, last = (exercise.question for exercise in lesson("polynomials").exercises)
    assert all("b = (1, …, 1) and x₀ = 0" in question for question in others)
    assert "x₀ = 0 and b = A (1, …, 1)ᵀ" in last
    kept = {drop: polynomials.BUBBLE[~np.isclose(polynomials.BUBBLE, drop)] for drop in (0.001, 1, 50)}
    of_ones = {drop: iterations_to_a_hundredth(values, np.ones(values.size)) for drop, values in kept.items()}
    of_a_solution_of_ones = {drop: iterations_to_a_hundredth(values, values) for drop, values in kept.items()}
    assert min(of_ones, key=of_ones.get) == 0.001
    assert min(of_a_solution_of_ones, key=of_a_solution_of_ones.get) == 50
    assert of_ones == {0.001: 7, 1: 12, 50: 12}
    assert f"CG takes 7 iterations in place of {cg_on(polynomials.BUBBLE).iterations_to(1e-2)}" in " ".join(
        lesson("polynomials").solution(3).split()
    )
    judged = lesson("polynomials").exercises[2]
    assert [judged.check(str(drop)).right for drop in kept] == [False, False, True]
    assert f"takes {of_a_solution_of_ones[50]} iterations instead of 6" in judged.check("50").sentence
    assert f"each other choice leaves {of_a_solution_of_ones[1]} or more" in judged.check("50").sentence


def iterations_to_a_hundredth(values, b):
    """By least squares over the Krylov space in an orthonormal basis: CG minimizes the A-norm of the error there."""
    x, basis = b / values, np.empty((values.size, 0))
    direction = b
    for iteration in range(1, values.size + 1):
        direction = direction - basis @ (basis.T @ direction)
        direction = direction - basis @ (basis.T @ direction)
        basis = np.column_stack([basis, direction / np.linalg.norm(direction)])
        root = np.sqrt(values)
        error = root * x - root[:, None] * basis @ np.linalg.lstsq(root[:, None] * basis, root * x, rcond=None)[0]
        if np.linalg.norm(error) <= 1e-2 * np.linalg.norm(root * x):
            return iteration
        direction = values * basis[:, -1]
    raise AssertionError("no iteration is enough")


def test_the_worse_eigenvalue_to_deflate_is_told_what_it_brings():
    for choice, rest in (
        ("1", np.r_[0.001, np.linspace(1, 5, 20)[1:], 50]),
        ("0.001", np.r_[np.linspace(1, 5, 20), 50]),
    ):
        needed = iterations_to_a_hundredth(rest, rest)
        assert f"without {choice} CG takes {needed} iterations as before" in sentence("polynomials", 3, choice)


def test_the_delay_is_told_by_the_error_after_as_many_iterations():
    values = rounding.SPECTRA[rounding.SPECTRUM](rounding.SIZE)
    rounded = cg_on(values, 60, "float64")
    for more in (0, 5):
        at = cg_on(values).iterations_to(1e-6) + more
        assert f"after {at} the error in double precision is still {number(rounded.error[at])}" in sentence(
            "rounding", 1, more
        )
    assert "fewer than 42: the error is below 10⁻⁶" in sentence("rounding", 1, 20)


@pytest.mark.parametrize("level", rounding.LEVELS)
def test_residual_replacement_falls_as_far_as_cg_and_each_verdict_has_the_levels_of_the_picture(level):
    lowest = {
        solver: min(
            each.true_residual for each in walk(configure("two-layer", n=16, solver=solver), rounding.ITERATIONS)
        )
        for solver in ("cg", "pipecg", "pipecg-rr")
    }
    found = lesson("rounding").exercises[1].check(level)
    assert found.right == (level == "as low as that of CG")
    assert all(number(each) in found.sentence for each in lowest.values())
    assert lowest["pipecg-rr"] < 2 * lowest["cg"] < lowest["pipecg"] / 100
    assert ("gropp reaches" in found.sentence) == found.right


def test_the_solution_names_the_part_of_50_in_the_error():
    assert 50 / polynomials.BUBBLE.sum() == pytest.approx(0.45, abs=0.005)
    assert "50 has 45% of the sum" in lesson("polynomials").solution(3)


def test_true_residuals_are_told_apart_and_read_off_at_powers_of_ten():
    scene = rounding.precision_scene(1e-8)
    single, double = [layer for layer in scene.layers if layer.name.startswith("true residual")]
    assert [single.name, double.name] == ["true residual, float32", "true residual, float64"]
    curves = {layer.name: layer.colour for layer in scene.layers if layer.name in ("float32", "float64")}
    assert [single.colour, double.colour] == [curves["float32"], curves["float64"]]
    # The answer of exercise 3: the last rings lie between two ticks.
    assert {1e-4, 1e-5} <= set(scene.y.marks)
    assert 2e-5 < single.y[-1] < 5e-5


def test_single_precision_is_told_by_its_true_residual():
    single = rounding.single_and_double(1e-6)["float32"]
    assert number(single.true_relative_residual) in sentence("rounding", 3, 6)
    assert "is met as well" in sentence("rounding", 3, 3)
