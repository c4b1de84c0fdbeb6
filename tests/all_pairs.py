"""All-pairs selection: a short list of cases in which every two values of different factors occur together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.conftest import CUDA, SIDE_BY_SIDE

Pair = tuple[tuple[str, int], tuple[str, int]]
"""Two factors, each with the index of its value; the factors in the order in which they are declared."""


def all_pairs(**factors: Sequence[Any]) -> list[dict[str, Any]]:
    """Cases, each with one value per factor, that contain every pair of values of every two factors.

    A fault that depends on one choice, or on two together, is found by them as by the whole product; one that needs
    three certain choices may be missed. The list has hardly more cases than the product of the two longest factors has,
    is the same on every machine, and starts with the first value of each factor.
    Method: each case starts from the first pair that no case contains, and is completed factor by factor with the value
    that adds most new pairs, the least used of equals (a greedy one-test-at-a-time method: Cohen, Dalal, Fredman,
    Patton (1997), The AETG system, IEEE Trans. Software Eng. 23(7)).
    """
    if len(factors) == 1:
        return [{name: value} for name, values in factors.items() for value in values]
    missing: dict[Pair, None] = dict.fromkeys(
        ((a, i), (b, j))
        for a, b in itertools.combinations(factors, 2)
        for i, j in itertools.product(range(len(factors[a])), range(len(factors[b])))
    )
    used = {(name, i): 0 for name, values in factors.items() for i in range(len(values))}
    cases = []
    while missing:
        case = _completed(dict(next(iter(missing))), factors, missing, used)
        for pair in itertools.combinations([(name, case[name]) for name in factors], 2):
            missing.pop(pair, None)
        for choice in case.items():
            used[choice] += 1
        cases.append({name: values[case[name]] for name, values in factors.items()})
    return cases


def _completed(
    case: dict[str, int],
    factors: Mapping[str, Sequence[Any]],
    missing: Mapping[Pair, None],
    used: Mapping[tuple[str, int], int],
) -> dict[str, int]:
    """The case with an index for every factor."""
    order = {name: place for place, name in enumerate(factors)}
    for name in factors:
        if name in case:
            continue

        def gain(i: int, name: str = name) -> tuple[int, int]:
            pairs = (tuple(sorted((choice, (name, i)), key=lambda one: order[one[0]])) for choice in case.items())
            return sum(pair in missing for pair in pairs), -used[name, i]

        case[name] = max(range(len(factors[name])), key=gain)
    return case


def name_of(case: Mapping[str, Any]) -> str:
    """The values of a case in one line, as the name of a test."""
    return "-".join(str(value) for value in case.values())


def pairwise(**factors: Sequence[Any]) -> pytest.MarkDecorator:
    """Run a test with each case of all pairs; its argument `case` maps the factors to values."""
    return pytest.mark.parametrize("case", all_pairs(**factors), ids=name_of)


def on_accelerators(**factors: Sequence[Any]) -> pytest.MarkDecorator:
    """The same with the fixture `accelerator`: both layouts of OpenCL are a factor more, and CUDA has all pairs too."""
    return _with("accelerator", ("opencl", SIDE_BY_SIDE), factors)


def on_devices(**factors: Sequence[Any]) -> pytest.MarkDecorator:
    """The same with the fixture `device`, which is also the cores."""
    return _with("device", ("cpu", "opencl", SIDE_BY_SIDE), factors)


def _with(fixture: str, here: Sequence[str], factors: Mapping[str, Sequence[Any]]) -> pytest.MarkDecorator:
    cases = all_pairs(**factors, **{fixture: here})
    cases += [{**case, fixture: spec} for spec in CUDA for case in all_pairs(**factors)]
    names = [name_of(case) for case in cases]
    pairs = [(case.pop(fixture), case) for case in cases]
    return pytest.mark.parametrize((fixture, "case"), pairs, ids=names, indirect=[fixture])
