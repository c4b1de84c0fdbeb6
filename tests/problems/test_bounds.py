"""How large a grid may be: what 32-bit integers count, and what memory there is, before anything is assembled."""

from __future__ import annotations

import math

import pytest

from workbench import registry
from workbench.errors import InputError
from workbench.problems import memory
from workbench.problems.memory import LARGEST_CUBE, LARGEST_SQUARE
from workbench.run import Run, configure

SQUARES = ("poisson5", "poisson-2d", "bubbles-2d", "two-layer")
CUBES = ("poisson7", "poisson27", "poisson125", "poisson-3d", "bubbles-3d", "slabs-3d")


def problem(name, n, **choices):
    return configure(name, n=n, **choices).problem


def test_bounds_are_what_32_bits_count():
    assert math.isqrt(2**31 - 1) == LARGEST_SQUARE
    assert LARGEST_CUBE**3 < 2**31 <= (LARGEST_CUBE + 1) ** 3


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_every_grid_may_be_as_large(name):
    largest = LARGEST_CUBE if name in CUBES else LARGEST_SQUARE
    form = {"form": "matrix-free"} if name in ("poisson27", "poisson125") else {}
    assert problem(name, largest, **form).n == largest
    with pytest.raises(InputError, match=f"n must be between . and {largest}, got {largest + 1}"):
        problem(name, largest + 1, **form)


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_what_does_not_fit_into_memory_is_refused_before_anything_is_made(name, monkeypatch):
    class Little:
        available = 10_000

    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: Little)
    with pytest.raises(InputError, match=r"GiB are free; use a smaller n"):
        problem(name, 40).assemble()


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_what_cannot_fit_the_device_is_refused_before_assembling(accelerator, name, monkeypatch):
    cls = registry.lookup("problem", name)
    monkeypatch.setattr(cls, "assemble", lambda *_: pytest.fail("it was assembled"))
    with pytest.raises(InputError, match="for vectors and matrices"):
        Run(configure(name, n=48, device=accelerator.spec, memory_limit=20_000))


@pytest.mark.parametrize("name", SQUARES + CUBES)
def test_no_problem_is_said_to_need_more_than_it_does(accelerator, name):
    """Else what fits would be refused."""
    configuration = configure(name, n=12, device=accelerator.spec, memory_limit=10**8)
    run = Run(configuration)
    size = configuration.problem.known_size
    assert size is not None
    assert 0 < size.nbytes + 4 * size.unknowns * size.dtype.itemsize <= run.setup.device.budget.used
