"""Lesson 1: what a verdict says agrees with the answer on both sides of the tolerance."""

import re

import pytest

from workbench.extensions.lessons import lesson


def said(number, answer):
    return str(lesson("without-pain").exercises[number - 1].check(answer))


def test_a_start_near_the_slowest_is_right_and_the_slowest_is_named():
    assert said(1, 9).endswith("leaves 80.0% of the A-norm of the error, and from no other start more.")
    near = said(1, 8.95)
    assert near.startswith("Right: from (8.95, 1) the first step leaves 79.9996%")
    assert near.endswith("and from (9, 1), the slowest start, 80.0000%.")
    wrong = said(1, 8.6)
    assert wrong.startswith("Not yet: ")
    # By hand: r = -(s/9, 1), and a step leaves 1 - (r, r)²/((r, A r)(r, A⁻¹ r)) of the square.
    r = (8.6 / 9, 1.0)
    left = 1 - (r[0] ** 2 + 1) ** 2 / ((r[0] ** 2 / 9 + 1) * (9 * r[0] ** 2 + 1))
    assert float(re.search(r"leaves ([\d.]+)%", wrong)[1]) == pytest.approx(100 * left**0.5, abs=0.005)
    assert wrong.endswith(", since r has the parts 0.956 and 1 in the two eigenvectors, and from another start 80.00%.")


@pytest.mark.parametrize("second", [-2.501, -2.499, -2.50001])
def test_directions_that_are_nearly_conjugate_are_not(second):
    found = said(2, second)
    assert found.startswith("Not yet")
    assert f"(1, −{-second:g})" in found
    assert not re.search(r"at 90(\.0+)?°", found)


def test_conjugate_directions_are_at_a_right_angle():
    for answer in (-2.5, "-5/2", "−2.5", "-2,5"):
        assert said(2, answer) == said(2, -2.5)
    assert said(2, -2.5).startswith("Right: for p₁ = (1, −2.5) p₀ᵀA p₁ is 0, so")
    assert "is −2.00 × 10⁻⁷, zero up to rounding" in said(2, -2.5000001).replace("\u202f", " ")


@pytest.mark.parametrize("angle", [44.9, 45.01, 45.5])
def test_a_condition_number_that_changes_is_shown_as_two_numbers(angle):
    before, after = re.search(r"from ([\d.]+) to ([\d.]+)\.$", said(3, angle)).groups()
    assert float(before) != float(after)


def test_radians_are_recognized():
    radians = lesson("without-pain").exercises[2].check(0.785)
    assert not radians.right
    assert "in degrees" in radians.hint
    # A second try gets the sentence alone.
    assert "from 9.00 to 1.08; the answer is in degrees" in radians.sentence
    assert lesson("without-pain").exercises[2].check("45 degrees").right
    assert "radians" not in lesson("without-pain").exercises[2].check(30).hint
