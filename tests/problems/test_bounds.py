"""Bounds of grids: 32-bit cell numbers and memory, checked before assembly."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.problems.base import LARGEST_CUBE, LARGEST_SQUARE
from workbench.process import limits
from workbench.run import configure

SQUARES = ("poisson5", "poisson-2d", "bubbles-2d", "two-layer")
CUBES = ("poisson7", "poisson27", "poisson125", "poisson-3d", "bubbles-3d", "slabs-3d")


def problem(name, n, **choices):
    return configure(name, n=n, **choices).problem


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_every_grid_has_the_same_bound(name):
    largest = LARGEST_CUBE if name in CUBES else LARGEST_SQUARE
    form = {"form": "matrix-free"} if name in ("poisson27", "poisson125") else {}
    assert problem(name, largest, **form).n == largest
    with pytest.raises(InputError, match=f"n must be between . and {largest}, got {largest + 1}"):
        problem(name, largest + 1, **form)


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_grids_larger_than_memory_are_refused_before_assembly(name, monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: (2**40, 10_000))
    with pytest.raises(InputError, match=r"GiB are free; use a smaller n"):
        problem(name, 40).assemble()
