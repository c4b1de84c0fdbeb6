"""Values that are typed into the fields of a form."""

import pytest

from workbench.errors import InputError
from workbench.live.ui.form_fields import Field
from workbench.registry import Parameter

TOLERANCE = Parameter("tolerance", float, 1e-6, "of the relative residual", above=0)


CELLS = Parameter("n", int, 16, "cells per side")


def field_with(text, declared=TOLERANCE):
    field = Field(declared)
    field.typed(text)
    return field


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("0,001", 1e-3),
        ("1/8", 0.125),
        ("10^-4", 1e-4),
        ("2 × 10⁻³", 2e-3),
        (" 0.5 ", 0.5),
        ("1000", 1e3),
    ],
)
def test_a_number_is_read_as_people_type_it(text, value):
    assert field_with(text).read() == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "abc", "1,000", "1/0", "nan", "inf", "0", "-1/8", "1;2"])
def test_what_is_none_or_may_be_two_is_refused_with_the_name_and_the_text(text):
    with pytest.raises(InputError, match="tolerance must be"):
        field_with(text).read()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 000", 1000),
        ("1,000", 1000),
        ("10^3", 1000),
        ("1e3", 1000),
        ("2.0", 2),
        ("\u22123", -3),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_a_whole_number_is_read_as_people_type_it(text, value):
    assert field_with(text, CELLS).read() == value


@pytest.mark.parametrize("text", ["", "abc", "2.5", "0,001", "1/2", "1e300", "nan"])
def test_what_is_no_whole_number_is_refused_with_the_text(text):
    with pytest.raises(InputError, match="must be a whole number, got"):
        field_with(text, CELLS).read()
