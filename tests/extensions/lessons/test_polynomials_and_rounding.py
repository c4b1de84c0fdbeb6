"""Lessons 2 and 3: a wrong answer gets a reason that is computed for it."""

import re

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons import lesson, rounding
from workbench.extensions.lessons.residual_polynomials import cg_on
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
        assert f"still {number(made.error[steps])} of that at first" in said
        assert all(f"{zero:.4g}" in said for zero in made.ritz(steps))
    assert "already after 4 iterations" in sentence("polynomials", 1, 9)


def test_a_spectrum_is_judged_by_its_own_polynomial():
    said = sentence("polynomials", 2, "1 2 5 10 50 100 500 1000")
    assert number(cg_on([1, 2, 5, 10, 50, 100, 500, 1000]).error[3]) in said
    assert "3 different eigenvalues" in sentence("polynomials", 2, "1 2 1000")
    assert "from 1 to 9" in sentence("polynomials", 2, "1 2 3 4 5 6 7 9")
    with pytest.raises(InputError, match="numbers"):
        lesson("polynomials").exercises[1].check("one two")


def test_the_worse_eigenvalue_to_deflate_is_told_what_it_brings():
    for choice, rest in (
        ("1", np.r_[0.001, np.linspace(1, 5, 20)[1:], 50]),
        ("50", np.r_[0.001, np.linspace(1, 5, 20)]),
    ):
        needed = cg_on(rest).iterations_to(1e-2)
        assert f"without {choice} CG takes {needed} iterations" in sentence("polynomials", 3, choice)


def test_the_delay_is_told_by_the_error_after_as_many_iterations():
    values = rounding.SPECTRA[rounding.SPECTRUM](rounding.SIZE)
    rounded = cg_on(values, 60, "float64")
    for more in (0, 5):
        at = cg_on(values).iterations_to(1e-6) + more
        assert f"after {at} the error in double precision is still {number(rounded.error[at])}" in sentence(
            "rounding", 1, more
        )
    assert "before that" in sentence("rounding", 1, 20)


def test_a_method_that_is_as_accurate_as_cg_is_told_both_accuracies():
    own, plain = map(float, re.findall(r"([\d.]+)\s×\s10⁻¹⁴", sentence("rounding", 2, "gropp")))
    assert 0.1 < own / plain < 10


def test_single_precision_is_told_by_its_true_residual():
    single = rounding.single_and_double(1e-6)["float32"]
    assert number(single.true_relative_residual) in sentence("rounding", 3, 6)
    assert "is met as well" in sentence("rounding", 3, 3)
