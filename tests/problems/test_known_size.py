"""The size of a system known before assembly."""

import pytest

from workbench.errors import InputError
from workbench.operators import stored_bytes
from workbench.problems import base
from workbench.problems.suitesparse import SuiteSparse
from workbench.registry import find
from workbench.run import Run, configure

SMALL = {
    "poisson5": {"n": 5},
    "poisson7": {"n": 4},
    "poisson27": {"n": 4},
    "poisson125": {"n": 6},
    "two-layer": {"n": 6},
    "slabs-3d": {"n": 8},
    "bubbles-2d": {"n": 16},
    "bubbles-3d": {"n": 16},
    "poisson-2d": {"n": 2},
    "poisson-3d": {"n": 3},
    "stand-in": {"scale": 0.2},
}


@pytest.mark.parametrize(("name", "values"), SMALL.items())
def test_the_known_size_is_at_most_that_of_the_assembled_system(name, values):
    problem = find("problem", name, **values)
    operator = problem.assemble().operator
    size = problem.known_size
    assert (size.shape, size.dtype) == (operator.shape, operator.dtype)
    # Whether a stencil's diagonal is stored depends on its values, and a stand-in's entries are hit within two percent.
    assert 0.66 * stored_bytes(operator) <= size.nbytes <= stored_bytes(operator)


def test_a_box_without_a_matrix_stores_nothing():
    problem = find("problem", "poisson27", n=4, form="matrix-free")
    assert problem.known_size.nbytes == stored_bytes(problem.assemble().operator) == 0


@pytest.mark.parametrize("name", [*SMALL, "suitesparse"])
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
