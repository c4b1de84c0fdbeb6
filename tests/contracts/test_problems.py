"""What every problem promises that has a parameter n: what it says before it is assembled is right."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contracts.cases import PROBLEMS
from workbench.errors import InputError
from workbench.operators import stored_bytes
from workbench.registry import find

CELLS = 8
"""Per side; more where a problem says that these do not resolve it."""


@pytest.fixture(params=PROBLEMS)
def problem(request):
    try:
        return find("problem", request.param, n=CELLS)
    except InputError as refused:
        return find("problem", request.param, n=refused.changes["problem.n"])


def test_size_grid_and_phases_are_those_of_the_assembled_system(problem):
    system, size = problem.assemble(), problem.known_size
    assert (problem.grid, problem.has_phases) == (system.grid, system.phase is not None)
    if size is not None:
        assert (size.shape, size.dtype) == (system.operator.shape, system.operator.dtype)
        # A diagonal is stored unless it is constant.
        assert 0.66 * stored_bytes(system.operator) <= size.nbytes <= stored_bytes(system.operator)


def test_a_is_hermitian_and_not_indefinite(problem):
    system = problem.assemble()
    A = system.operator.to_csr().toarray()
    np.testing.assert_array_equal(A, A.conj().T)
    values = np.linalg.eigvalsh(A)
    assert values[0] > -1e-12 * values[-1]
    assert problem.is_closed == (abs(A.sum(axis=1)).max() < 1e-12 * values[-1])
    assert np.shape(system.b)[0] == A.shape[0]
    assert not problem.constant_b or np.ptp(system.b) == 0
