"""Constant-coefficient problems against Kronecker products."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.operators import BoxStencil, Matrix, Stencil
from workbench.operators.box_stencil import box_csr, box_nnz
from workbench.problems.poisson import Poisson5, Poisson7, Poisson27, Poisson125
from workbench.process import limits


def second_difference(n):
    return sparse.csr_array(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))


def band(n, reach):
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return (distance <= reach).astype(float)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_stencils_are_sums_of_kronecker_products(n):
    t, one = second_difference(n), sparse.eye_array(n)
    flat = sparse.kronsum(t, t)
    five, seven = Poisson5(n=n).assemble(), Poisson7(n=n).assemble()
    solid = sparse.kron(one, flat) + sparse.kron(t, sparse.eye_array(n * n))
    np.testing.assert_array_equal(five.operator.to_csr().toarray(), flat.toarray())
    np.testing.assert_array_equal(seven.operator.to_csr().toarray(), solid.toarray())
    assert isinstance(five.operator, Stencil)
    assert five.operator.nnz == 5 * n**2 - 4 * n
    assert seven.operator.nnz == 7 * n**3 - 6 * n**2
    assert (five.grid, seven.grid) == ((n, n), (n, n, n))
    assert five.b.tolist() == [1.0] * n**2
    assert not five.random_start


@pytest.mark.parametrize("reach", [1, 2, 4])
@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 2, 2), (3, 1, 5), (1, 4, 7), (5, 6, 7), (7, 2, 3)], ids=str)
def test_box_csr_equals_a_kronecker_product(grid, reach):
    csr = box_csr(grid, reach, 9.0, -0.5, np.dtype(np.float32))
    z, y, x = (band(side, reach) for side in grid)
    box = np.kron(z, np.kron(y, x))
    np.testing.assert_array_equal(csr.toarray(), 9.5 * np.eye(len(box)) - 0.5 * box)
    assert csr.nnz == box_nnz(grid, reach) == np.count_nonzero(box)
    assert csr.indices.dtype == csr.indptr.dtype == np.int32
    assert csr.dtype == np.float32
    sorted_again = sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    assert sorted_again.has_canonical_format


@pytest.mark.parametrize("n", [2, 3, 9])
def test_the_number_of_entries_follows_the_formulas(n):
    for form in ("assembled", "matrix-free"):
        assert (3 * n - 2) ** 3 == Poisson27(n=n, form=form).assemble().operator.nnz
        assert (5 * n - 6) ** 3 == Poisson125(n=n, form=form).assemble().operator.nnz


@pytest.mark.parametrize("problem", [Poisson27, Poisson125])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_assembled_and_matrix_free_forms_are_equal(problem, n):
    assembled, free = problem(n=n).assemble(), problem(n=n, form="matrix-free").assemble()
    assert isinstance(assembled.operator, Matrix)
    assert isinstance(free.operator, BoxStencil)
    assert (assembled.operator.to_csr() != free.operator.to_csr()).nnz == 0
    assert assembled.grid == free.grid == (n, n, n)
    assert assembled.b.tolist() == free.b.tolist()


@pytest.mark.parametrize(("problem", "diagonal"), [(Poisson27(n=4), 26), (Poisson125(n=5), 124)])
def test_assembled_operators_are_positive_definite(problem, diagonal):
    system = problem.assemble()
    assert isinstance(system.operator, Matrix)
    dense = system.operator.to_csr().toarray()
    assert set(np.diag(dense)) == {diagonal}
    assert (dense.sum(axis=1) >= 0).all()
    assert dense[0].sum() > 0, "strictly dominant at the corner"
    assert np.linalg.eigvalsh(dense).min() > 0


def test_an_inner_row_sums_to_zero():
    dense = Poisson125(n=5).assemble().operator.to_csr().toarray()
    assert np.flatnonzero(dense.sum(axis=1) == 0).tolist() == [62], "only the centre of 5 x 5 x 5 sees 124 neighbours"


def test_assembly_needs_little_more_memory_than_the_matrix():
    tracemalloc.start()
    try:
        csr = Poisson125(n=40).assemble().operator.to_csr()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * (csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes)


def test_memory_is_checked_before_anything_is_built(monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: (2**40, 2**30))
    assert refusal(Poisson125(n=165).assemble) == (
        "125-point operator, 165³ needs about 6.19 GiB of memory, 1 GiB are free; use a smaller n, or form=matrix-free"
    )
    Poisson125(n=165, form="matrix-free").assemble()
    with pytest.raises(
        InputError,
        match=r"125-point operator, 600³, storage matrix-free needs about 1.61 GiB of memory",
    ):
        Poisson125(n=600, form="matrix-free").assemble()


@pytest.mark.parametrize(("problem", "last"), [(Poisson27, 430), (Poisson125, 259)])
def test_an_assembled_matrix_has_32_bit_indices(problem, last):
    problem(n=last)
    with pytest.raises(InputError, match=rf"{problem.name}:{last + 1} has \d+ entries, .* or form=matrix-free"):
        problem(n=last + 1)
    problem(n=last + 1, form="matrix-free")
