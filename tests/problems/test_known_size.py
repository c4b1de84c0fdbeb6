"""The size of a system known before assembly."""

import pytest

from workbench.errors import InputError
from workbench.operators import stored_bytes
from workbench.problems import base
from workbench.problems.suitesparse import SuiteSparse
from workbench.registry import find
from workbench.run import Run, configure

PROBLEMS = (
    *("poisson5", "poisson7", "poisson27", "poisson125", "two-layer", "slabs-3d", "bubbles-2d", "bubbles-3d"),
    *("poisson-2d", "poisson-3d", "stand-in", "suitesparse"),
)


def test_the_known_size_of_a_stand_in_is_at_most_that_of_the_assembled_system():
    """Problems with a parameter n are tested by their contract."""
    problem = find("problem", "stand-in", scale=0.2)
    operator = problem.assemble().operator
    size = problem.known_size
    assert (size.shape, size.dtype) == (operator.shape, operator.dtype)
    # Entries are hit within two percent.
    assert 0.97 * stored_bytes(operator) <= size.nbytes <= stored_bytes(operator)


def test_a_box_without_a_matrix_stores_nothing():
    problem = find("problem", "poisson27", n=4, form="matrix-free")
    assert problem.known_size.nbytes == stored_bytes(problem.assemble().operator) == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_systems_that_do_not_fit_are_refused_before_assembly(name, device, monkeypatch):
    problem = find("problem", name)
    monkeypatch.setattr(type(problem), "assemble", lambda *_: pytest.fail("it must not be assembled"))
    with pytest.raises(InputError, match=r"device .* may use .*0\.001 MB.* and .* MB are needed"):
        Run(configure(problem, device=device.spec, memory_limit=1000))


def test_the_size_of_an_in_memory_system_is_its_own():
    system = find("problem", "poisson5", n=4).assemble()
    assert Run(configure("poisson5", n=8192, memory_limit=10_000), system).setup.operator is system.operator


def test_unknown_sizes_are_none():
    assert base.Problem().known_size is None
    assert SuiteSparse(matrix="Test/tiny").known_size is None
