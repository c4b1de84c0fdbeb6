"""The cases that stand for a whole product contain every pair of values, and are few."""

from __future__ import annotations

import itertools

import pytest

from tests.all_pairs import all_pairs, name_of

FACTORS = {"solver": range(11), "first": "abcdefg", "second": [None, 1.5], "dtype": ["float32", "float64"]}


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first", "dtype"), tuple(FACTORS)])
def test_every_two_values_occur_together(names):
    factors = {name: FACTORS[name] for name in names}
    cases = all_pairs(**factors)
    for a, b in itertools.combinations(factors, 2):
        assert {(case[a], case[b]) for case in cases} == set(itertools.product(factors[a], factors[b]))


def test_of_one_factor_every_value_is_a_case():
    assert all_pairs(first="ab") == [{"first": "a"}, {"first": "b"}]


def test_the_number_of_cases_is_close_to_that_of_the_two_longest_factors():
    assert len(all_pairs(first="abcdefg", second="abcde")) == 35
    assert len(all_pairs(**FACTORS)) == 77
    assert len(all_pairs(first=range(10), second=range(6), coarse=range(5), variant=range(6))) <= 70
    assert len(all_pairs(**{str(k): range(2) for k in range(10)})) <= 10, "of 1024"


def test_the_cases_are_the_same_each_time_and_begin_with_the_defaults():
    assert all_pairs(**FACTORS) == all_pairs(**FACTORS)
    assert all_pairs(**FACTORS)[0] == {"solver": 0, "first": "a", "second": None, "dtype": "float32"}


def test_the_name_of_a_case_lists_its_values():
    assert name_of({"solver": "cg", "first": "neumann:2", "groups": 40}) == "cg-neumann:2-40"
