"""Numbers are read as people type them, and nothing else is taken for one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.extensions.lessons.exercise import Number, Numbers
from workbench.words.typed_numbers import typed_number, typed_numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [("9", 9), (" 9.0 ", 9), ("9,0", 9), ("-5/2", -2.5), ("−2.5", -2.5), ("–2,5", -2.5), ("5 / −2", -2.5), ("+3", 3),
     (".5", 0.5), ("5.", 5), ("1e3", 1000), ("2 × 10⁻³", 0.002), ("2*10^-3", 0.002), ("10⁻³", 1e-3), ("-10^3", -1000),
     ("1 000,5", 1000.5), ("1\u202f000", 1000), ("1'000", 1000), ("1/3", 1 / 3), ("- 2", -2),
     ("1/2 × 10^3", 500), ("-1 / 4 * 10³", -250), ("1/.5·10^3", 2000), ("1/10^3", 1e-3), ("10^3/2", 500),
     ("2^3", 8), ("2**3", 8), ("2³", 8), ("-2^3", -8), ("2^-3", 0.125), ("2⁻³", 0.125), ("2^(1/2)", 2**0.5),
     ("10^0,5", 10**0.5), ("10^12.5", 10**12.5), ("3 / 2^3", 0.375), ("sqrt(2)", 2**0.5), ("√2", 2**0.5),
     ("-sqrt( 9 )", -3), ("sqrt(5/2)", 2.5**0.5), ("sqrt(160,2 / 29,2)", (160.2 / 29.2) ** 0.5), ("sqrt 4", 2),
     ("3*sqrt(4)", 6), ("3√4", 6), ("1/sqrt(4)", 0.5), ("sqrt(4)/4", 0.5), ("√10²", 10), ("sqrt(1e-2)", 0.1)],
)  # fmt: skip
def test_a_number_in_any_form(text, value):
    assert typed_number(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "nine", "nan", "inf", "1e999", "5/0", "1/", "--3", "3-", "1 2", "0x10", "1.234,5", "½", "٣", "9°",
     "1 2345", "9" * 400, "3 × 10", "1e5e5",
     "10^3/2 × 10^3", "1e3/2 × 10^3",
     "sqrt", "sqrt()", "sqrt(-1)", "sqrt(1/0)", "sqrt(2", "0^-1", "(-2)^2", "2^", "^3", "2^3^2", "9^999", "cbrt(8)",
     "2^10^3", "sqrt(2)sqrt(2)", "1/2/3", "2+3"],
)  # fmt: skip
def test_no_number_is_refused_with_an_example(text):
    with pytest.raises(InputError, match="a number such as 2.5, 2,5 or 5/2"):
        typed_number(text)


@given(st.integers(1, 999), st.integers(-9, 9), st.integers(1, 99), st.sampled_from(("", "-", "−")))
def test_powers_roots_and_their_fractions(base, exponent, below, sign):
    factor = -1 if sign else 1
    known = {
        f"{base}^{exponent}": float(base) ** exponent, f"{base}**({exponent}/{below})": base ** (exponent / below),
        f"sqrt({base})": math.sqrt(base), f"{below} × √{base}": below * math.sqrt(base),
        f"sqrt({base}/{below})": math.sqrt(base / below), f"sqrt({base}) / {below}^{abs(exponent)}":
        math.sqrt(base) / below ** abs(exponent),
    }  # fmt: skip
    for text, value in known.items():
        assert typed_number(sign + text) == pytest.approx(factor * value, rel=1e-14)


def test_a_unit_may_stand_behind_and_thousands_may_have_commas():
    assert [typed_number(text, "°") for text in ("9°", "9 °", "9 deg", "9 degrees", "9")] == [9] * 5
    assert [typed_number(text, "GPUs", whole=True) for text in ("8 GPUs", "1 GPU", "4,096")] == [8, 1, 4096]
    assert typed_number("0,500", whole=True) == 0.5
    assert [typed_number(text, "m−1") for text in ("9 m−1", "9 m-1")] == [9, 9]


@pytest.mark.parametrize(
    ("text", "values"),
    [("1,001 1,002", [1.001, 1.002]), ("1, 2, 5", [1, 2, 5]), ("1,2,5", [1, 2, 5]), ("1;1,001;3", [1, 1.001, 3]),
     ("{1, 2}", [1, 2]), ("1 2,", [1, 2]), ("1, 1,001, 1,002", [1, 1.001, 1.002]), ("1 −3", [1, -3]), ("", []),
     ("1 / 2, 3", [0.5, 3]), ("2 × 10³; 5", [2000, 5])],
)  # fmt: skip
def test_numbers_with_any_separator(text, values):
    assert typed_numbers(text) == values


@pytest.mark.parametrize(
    ("answer", "why"),
    [("100.0000001", "from 0 to 100, and 100.0000001 is not"), ("9.0000001", "a whole number, and 9.0000001 is not"),
     (10**400, "is not"), (Fraction(10**400), "is not"), (None, "is not"), (True, "is not"), (float("nan"), "is not")],
)  # fmt: skip
def test_a_refusal_repeats_the_answer_as_it_was_given(answer, why):
    with pytest.raises(InputError, match=why):
        Number(0, 100, whole=True).read(answer)


@pytest.mark.parametrize(("low", "high", "why"), [(0, np.inf, "at least 0"), (-np.inf, 1, "at most 1")])
def test_a_bound_on_one_side_is_said(low, high, why):
    with pytest.raises(InputError, match=f"the answer is {why}, and .* is not"):
        Number(low, high).read(-5 if low == 0 else 5)


def test_numbers_of_numpy_are_numbers():
    assert [Number(0, 100).read(each) for each in (np.float64(2.5), np.int64(9), np.float32(0.5))] == [2.5, 9, 0.5]


def test_numbers_are_not_an_empty_text():
    with pytest.raises(InputError, match="these are none"):
        Numbers().read(";")
