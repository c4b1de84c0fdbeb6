"""Numbers on the page, by the rules of the page design."""

from __future__ import annotations

import pytest

from workbench.words.numbers import amount, count, counted, deviation_text, duration, number, queued, relative, waited


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8.7149e-7, "8.71 × 10⁻⁷"), (0.0407, "0.0407"), (15.93, "15.9"), (0, "0"), (-1234567, "−1.23 × 10⁶"),
        (12345, "12 300"), (999.96, "1000"), (0.000999, "9.99 × 10⁻⁴"), (0.001, "0.00100"), (None, "–"),
        (float("inf"), "–"),
    ],
)  # fmt: skip
def test_three_digits(value, text):
    assert number(value).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.458, "0.458 s"), (0.0159, "15.9 ms"), (1.64, "1.64 s"), (3e-6, "3.00 µs"), (2e-9, "2.00 ns"), (0, "0 s"),
        (0.09999, "0.100 s"), (125, "2 min 5 s"), (3600, "1 h"), (4000, "1 h 6 min"), (None, "–"),
    ],
)  # fmt: skip
def test_the_unit_of_a_time_fits(seconds, text):
    assert duration(seconds).replace("\u202f", " ") == text


def test_counts_are_exact_and_grouped_from_five_digits_on():
    assert [count(value).replace("\u202f", " ") for value in (0, 1234, 12345, 2097152, -5)] == [
        "0", "1234", "12 345", "2 097 152", "−5",
    ]  # fmt: skip


def test_amounts_and_residuals():
    assert [amount(value).replace("\u202f", " ") for value in (0, 268e6, 1.1e9, 999, 999.9e3)] == [
        "0 B", "268 MB", "1.10 GB", "999 B", "1.00 MB",
    ]  # fmt: skip
    assert relative(float("nan")) == "not finite"


@pytest.mark.parametrize(
    ("percents", "text"),
    [
        (36.4, "+36.4%"),
        (-4.13, "−4.13%"),
        (0, "0%"),
        (899, "+899%"),
        (900, "10.0 times"),
        (121_100, "1210 times"),
        (None, "–"),
    ],
)
def test_deviations_in_percent_or_times(percents, text):
    assert deviation_text(percents) == text


def test_a_run_that_waits_for_no_other_is_starting():
    assert [queued(ahead) for ahead in (0, 1, 2)] == [
        "starting",
        "queued, 1 run before yours",
        "queued, 2 runs before yours",
    ]
    assert queued(1, "check") == "queued, 1 check before yours"


def test_a_wait_that_nobody_notices_is_not_said():
    assert [waited(seconds).replace("\u202f", " ") for seconds in (0.0, 0.09, 0.1, 3.1)] == [
        "", "", "waited 0.10 s", "waited 3.1 s",
    ]  # fmt: skip


def test_one_of_a_thing_is_no_plural():
    assert [counted(value, "iteration") for value in (0, 1, 2)] == ["0 iterations", "1 iteration", "2 iterations"]
    assert [counted(value, "try", "tries") for value in (1, 3)] == ["1 try", "3 tries"]
