"""Printed numbers next to ours: deviations, their reasons, and what is not compared."""

from __future__ import annotations

import pytest

from workbench.extensions.papers.comparison import Compared, compare, deviation, unexplained


@pytest.mark.parametrize(
    ("printed", "ours", "percent"),
    [
        (100, 120, 20.0),
        ([2.0, 2.5], 2.2, 0.0),
        ([2.0, 2.5], 3.0, 20.0),
        ([2.0, 2.5], 1.0, -50.0),
        ([2, 4, 10], [2, 5, 8], 25.0),
        ("above 1", 1.2, None),
        (100, None, None),
    ],
)
def test_deviations_in_percent(printed, ours, percent):
    assert deviation(printed, ours) == (None if percent is None else pytest.approx(percent))


def test_unequal_sizes_and_other_machines_are_not_compared():
    count = Compared(printed="printed", ours="ours", sizes=("n", "here"))
    time = Compared(printed="printed", ours="ours", elsewhere=True)
    rows = [{"n": 128, "here": 128, "printed": 10, "ours": 13}, {"n": 128, "here": 64, "printed": 10, "ours": 5}]
    same, other = compare(rows, ("n",), (count,))
    assert same.percent == pytest.approx(30)
    assert (other.percent, other.ratio, other.said) == (None, None, "")
    assert (other.paper_size, other.our_size) == (128, 64)
    elsewhere = compare(rows, ("n",), (time,))[0]
    assert (elsewhere.percent, elsewhere.said) == (None, "")
    assert elsewhere.ratio == pytest.approx(1.3)


def test_large_deviations_have_a_reason_or_are_not_explained():
    column = Compared(
        printed="printed", ours=("cuda", "cpu"), modelled="model", reasons={"b, 9": "the ninth", "a": "it is small"}
    )
    rows = [
        {"name": "a", "printed": 10, "cpu": 20},
        {"name": "b", "printed": 10, "cpu": 10, "cuda": 5, "model": 9},
        {"name": "b", "printed": 9, "model": 18},
        {"name": "b", "printed": "hybrid1", "model": "hybrid2"},
        {"name": "b", "printed": "above 1", "model": 1.5},
        {"name": "b", "printed": None, "cpu": 3},
    ]
    values = compare(rows, ("name",), (column,))
    assert [value.said for value in values] == ["it is small", "not explained", "the ninth", "not explained", ""]
    assert unexplained(values) == [
        "Not explained, more than 15% from the print: b (−50.0%); b (hybrid2 and not hybrid1)."
    ]
    assert unexplained(values[:1]) == []
