"""Which right-hand sides depend on which, against NumPy's rank."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench.run import solve
from workbench.run.loop.block.dependencies import dependencies


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_combinations_of_few_columns_are_named():
    B = normal(50, 7)
    B[:, 3] = B[:, 0] - 2 * B[:, 1]
    B[:, 4] = 0
    B[:, 6] = 1e-20 * B[:, 2]
    assert dependencies(B) == {3: [0, 1], 6: [2]}
    assert dependencies((1j * B).astype(np.complex64)) == {3: [0, 1], 6: [2]}
    assert dependencies(1e200 * B) == {3: [0, 1], 6: [2]}


@settings(max_examples=50)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000))
def test_as_many_columns_are_named_as_the_rank_lacks(rank, s, seed):
    B = normal(40, rank, seed=seed) @ normal(rank, s, seed=seed + 1)
    assert len(dependencies(B)) == s - np.linalg.matrix_rank(B)


def test_a_run_says_which_columns_depend_on_which():
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(12, 12))
    A, B = sparse.csr_array(sparse.kronsum(line, line)), normal(144, 4)
    assert not any("depend" in note for note in solve(A, B).provenance["notes"])
    B[:, 2] = B[:, 0] + B[:, 1]
    result = solve(A, B)
    assert result.converged
    said = "columns of B depend on one another, so the search directions have rank 3: 3 on 1, 2"
    assert said in result.provenance["notes"]
