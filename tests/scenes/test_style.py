"""Looks of kernels: an operator has one everywhere, and no two kernels of a trace share one."""

import pytest

from workbench.scenes.style import BY_NAME, BY_ORDER, HATCHES, kernel_looks


def test_an_operator_looks_the_same_whatever_came_before_it():
    first = kernel_looks(["A", "M", "x = x + alpha*p"])
    later = kernel_looks(["r = b - s", "p = u", "M r", "A p"])
    assert [first[name] for name in ("A", "M")] == [later[name] for name in ("A p", "M r")]


@pytest.mark.parametrize("operators", [["A", "A, Z^T", "b - A x, Z^T", "M", "Z^T", "Z", "E^-1", "AZ"], ["A1", "A2"]])
def test_kernels_of_a_trace_are_told_apart(operators):
    names = [*operators, *(f"line {k}" for k in range(len(BY_ORDER) - len(BY_NAME)))]
    assert len(set(kernel_looks(names).values())) == len(names)


def test_all_kernels_of_a_level_look_the_same():
    looks = kernel_looks(["smooth, level 1", "A", "residual, level 1", "smooth, level 2"])
    assert looks["smooth, level 1"] == looks["residual, level 1"] != looks["smooth, level 2"]


def test_hatches_are_those_that_are_drawn():
    assert {hatch for _, hatch in (*BY_NAME.values(), *BY_ORDER)} == set(range(HATCHES))
