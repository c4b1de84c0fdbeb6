"""Printed numbers next to ours: deviations, their reasons, and what is not compared."""

from __future__ import annotations

import math

import pytest

from workbench.extensions.papers.comparison import NOT_APPLIED, Compared, compare, deviation, unexplained
from workbench.extensions.papers.printed import printed_in, printed_text
from workbench.extensions.papers.standing import Reason, Standing, Support, tally, tally_words


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
        (100, math.nan, math.inf),
        (100, -math.inf, math.inf),
        ([2, 4], [2, math.nan], math.inf),
        (0, 0, 0.0),
        (0, 5, math.inf),
    ],
)
def test_deviations_in_percent(printed, ours, percent):
    assert deviation(printed, ours) == (None if percent is None else pytest.approx(percent))


@pytest.mark.parametrize(
    ("model", "applies", "verdict"),
    [(29.0, True, "+190%"), (31.0, False, NOT_APPLIED), (3.4, True, "−66.0%"), (3.2, False, NOT_APPLIED)],
)
def test_a_model_more_than_three_times_off_does_not_apply(model, applies, verdict):
    column = Compared(printed="printed", ours="ours", modelled="model")
    (value,) = compare([{"n": 1, "printed": 10.0, "model": model}], ("n",), (column,))
    assert (value.applies, value.verdict) == (applies, verdict)
    # What is counted is no model.
    (value,) = compare([{"n": 1, "printed": 10.0, "ours": model}], ("n",), (column,))
    assert value.applies


@pytest.mark.parametrize(("ours", "verdict"), [("hybrid1", "as printed"), ("hybrid2", "not as printed"), (None, "–")])
def test_words_are_as_printed_or_not(ours, verdict):
    column = Compared(printed="printed", ours="ours")
    (value,) = compare([{"n": 1, "printed": "hybrid1", "ours": ours}], ("n",), (column,))
    assert value.verdict == verdict


def test_what_is_not_finite_agrees_with_nothing():
    column = Compared(
        printed="printed", ours="ours", fitted="two numbers", reasons={"1": Reason("c", Support.MEASURED)}
    )
    rows = [{"n": 1, "printed": printed, "ours": math.nan} for printed in (10.0, [1.0, 20.0])]
    values = compare(rows, ("n",), (column,))
    assert [(value.standing, value.verdict, value.remark) for value in values] == [
        (Standing.OPEN, "not finite", "not explained")
    ] * 2


def test_a_remark_says_how_a_number_stands():
    column = Compared(printed="printed", ours="ours", sizes=("n", "here"), uncounted=lambda _: "a stand-in")
    rows = [{"n": 8, "here": here, "printed": 10, "ours": 13} for here in (8, 4)]
    same, other = compare(rows, ("n",), (column,))
    assert (same.standing, same.remark) == (Standing.NOT_COUNTED, "not counted: a stand-in")
    assert (other.standing, other.remark) == (Standing.NOT_COMPARED, "not compared: 4 here, 8 printed")


def test_printed_numbers_keep_the_digits_of_the_paper():
    row = {name: values for name, *values in printed_in("two-level")["table1"]["rows"]}
    assert [printed_text(value) for value in row["Neumann(1)"]] == ["20.15", "1.29"]
    seconds = [cpu for _, cpu, *_ in printed_in("mpcg")["table2"]["rows"]]
    assert printed_text(seconds[-1]) == "216.126253"
    circularity = printed_in("hysing")["case1"]["circularity"]["values"]
    assert printed_text([min(circularity), max(circularity)]) == "0.9011–0.9013"
    assert (printed_text(16384), printed_text(1.23456)) == ("16\u202f384", "1.23")


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


SMALL, NINTH = Reason("it is small", Support.MEASURED), Reason("the ninth", Support.PLAUSIBLE)


def test_large_deviations_have_a_reason_or_are_not_explained():
    column = Compared(printed="printed", ours=("cuda", "cpu"), modelled="model", reasons={"b, 9": NINTH, "a": SMALL})
    rows = [
        {"name": "a", "printed": 10, "cpu": 20},
        {"name": "b", "printed": 10, "cpu": 10, "cuda": 5, "model": 9},
        {"name": "b", "printed": 9, "model": 18},
        {"name": "b", "printed": "hybrid1", "model": "hybrid2"},
        {"name": "b", "printed": "above 1", "model": 1.5},
        {"name": "b", "printed": None, "cpu": 3},
    ]
    values = compare(rows, ("name",), (column,))
    said = ["measured: it is small", "not explained", "plausible: the ninth", "not explained", ""]
    assert [value.said for value in values] == said
    assert unexplained(values) == [
        "Not explained, more than 15% from the print: b (−50.0%); b (hybrid2 and not hybrid1)."
    ]
    assert unexplained(values[:1]) == []


def test_every_number_stands_in_one_way_and_what_is_made_from_the_print_is_no_agreement():
    """Two rows of each way, counted by hand."""
    reasons = {"measured": SMALL, "plausible": NINTH, "open": Reason("found, not explained", Support.UNKNOWN)}
    rows = [
        {"name": "near", "printed": 10, "ours": 11},
        {"name": "measured", "printed": 10, "ours": 12},
        {"name": "plausible", "printed": 10, "ours": 8},
        {"name": "open", "printed": 10, "ours": 1},
        {"name": "without", "printed": 10, "ours": 1},
        {"name": "made", "printed": 10, "ours": 10},
        {"name": "missing", "printed": 10, "ours": None},
        {"name": "made and missing", "printed": 10, "ours": None},
        {"name": "tie", "printed": "above 1", "ours": 0.96},
        {"name": "clear", "printed": "below 1", "ours": 0.8},
    ]
    made = Compared(
        printed="printed", ours="ours", reasons=reasons, uncounted=lambda row: "a copy" * ("made" in row["name"])
    )
    values = compare(rows, ("name",), (made,))
    assert {value.row: value.standing for value in values} == {
        "near": Standing.WITHIN,
        "measured": Standing.EXPLAINED,
        "plausible": Standing.PLAUSIBLE,
        "open": Standing.OPEN,
        "without": Standing.OPEN,
        "made": Standing.NOT_COUNTED,
        "missing": Standing.NOT_COMPARED,
        "made and missing": Standing.NOT_COMPARED,
        "tie": Standing.NOT_COMPARED,
        "clear": Standing.WITHIN,
    }
    assert tally_words(tally(values)) == (
        "6 compared independently: 2 within 15%, 1 explained by a measurement, 1 plausible, not measured, 2 not "
        "explained; 3 cannot be compared; 1 not counted"
    )
    assert values[5].remark == "not counted: a copy"
    assert values[8].remark == "a tie: within 15% of 1"
    fitted = Compared(printed="printed", ours="ours", fitted="one number")
    near, far, *_ = compare(rows, ("name",), (fitted,))
    assert (near.standing, near.remark) == (Standing.FITTED, "fitted: one number")
    assert far.standing is Standing.OPEN
