"""BoxStencil operators: messages of refusals, and products on the CPU compared with the assembled matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import ndimage

from tests.all_pairs import name_of
from tests.conftest import DTYPES, random_values, refusal
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.box_stencil import BoxStencilProduct, cut
from workbench.devices.host import memory
from workbench.errors import InputError
from workbench.jit import threads
from workbench.jit.work_stealing import counters
from workbench.operators import BoxStencil, Operator, as_operator
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through, solve

CPU = Cpu()
NO_DTYPE = "a box operator computes in float32, float64, complex64 or complex128, got int64"


def assembled(operator, diagonal, coupling, x):
    """The product with the assembled matrix."""
    matrix = BoxStencil(operator.grid, operator.reach, diagonal, coupling).to_csr()
    return matrix @ x


def by_axes(operator, diagonal, coupling, x):
    """The product by sums along each axis, for grids whose assembled matrix takes gigabytes."""
    sums = x.reshape(operator.grid)
    for axis in range(sums.ndim):
        sums = ndimage.convolve1d(sums, np.ones(2 * operator.reach + 1), axis, mode="constant")
    return (diagonal - coupling) * x + coupling * sums.ravel()


def check(operator, x, product=assembled):
    """Compare every row of the product and the dot products with the reference, to rounding."""
    out = memory.vector(x.size, x.dtype)
    out[:] = np.nan
    before = x.copy()
    dots = operator.bind(CPU).apply(x, out)
    wide = np.result_type(x.dtype, np.float64)
    expected = product(operator, operator.diagonal_entry, operator.coupling, x.astype(wide))
    # The product takes the diagonal apart, into what the window counts and the rest.
    size = np.abs(x).astype(np.float64)
    scale = product(operator, abs(operator.diagonal_entry), abs(operator.coupling), size)
    scale += 2 * abs(operator.coupling) * size
    kind = np.finfo(x.dtype)
    assert np.all(np.abs(out - expected) <= 16 * (kind.eps * scale + kind.smallest_subnormal))
    np.testing.assert_array_equal(x, before)
    left, right = x.astype(wide), out.astype(wide)
    expected = [np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)]
    bounds = np.linalg.norm(left) * np.linalg.norm(right), np.vdot(right, right).real, np.vdot(left, left).real
    assert np.all(np.abs(dots - expected) <= 1e-13 * (np.array(bounds) + 1e-300))


@settings(max_examples=60)
@given(
    grid=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
    reach=st.sampled_from([1, 2]),
    diagonal=st.floats(-200, 200, width=32),
    coupling=st.floats(-4, 4, width=32),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 99),
)
@example(grid=(2, 5, 8), reach=1, diagonal=float(np.finfo(np.float32).tiny), coupling=0.0, dtype="float32", seed=0)
def test_products_agree_with_the_assembled_matrix(grid, reach, diagonal, coupling, dtype, seed):
    operator = BoxStencil(grid, reach, diagonal, coupling, np.dtype(dtype))
    x = random_values(operator.shape[0], dtype, seed)
    check(operator, x)
    check(operator, x, by_axes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("grid", [(75, 83, 61), (3, 400, 301), (2, 3, 70001)], ids=str)
def test_products_on_grids_of_several_chunks(grid, dtype):
    strips, slabs, _ = cut(grid, 2, np.dtype(dtype).itemsize)
    assert strips * slabs > 1
    operator = BoxStencil(grid, 2, 124.0, -1.0, np.dtype(dtype))
    check(operator, random_values(operator.shape[0], dtype), by_axes)


@pytest.mark.parametrize("reach", [3, 8])
def test_products_of_longer_reach(reach):
    for grid in ((5, 6, 7), (17, 1, 18), (20, 19)):
        operator = BoxStencil(grid, reach, 3.0, -0.25)
        check(operator, random_values(operator.shape[0], "float64"))


@pytest.mark.parametrize("grid", [(1, 1, 1), (165, 165, 165), (1, 9000, 9000), (1, 1, 10**6), (5, 2, 10**6)], ids=str)
@pytest.mark.parametrize("reach", [1, 8])
def test_a_grid_is_split_into_non_empty_chunks(grid, reach):
    strips, slabs, tallest = cut(grid, reach, 8)
    assert 1 <= strips <= grid[1]
    assert 1 <= slabs <= grid[0]
    assert (tallest - 1) * strips < grid[1] <= tallest * strips


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    operator, x = BoxStencil((60, 70, 50), 2, 124.0, -1.0), random_values(210000, "float64")
    product, out = operator.bind(CPU), memory.vector(210000, np.float64)
    found = []
    for count in (1, threads.cores()):
        monkeypatch.setattr(threads, "_all", counters(count))
        found.append((product.apply(x, out).tolist(), out.tobytes()))
    assert found[0] == found[1]


def test_properties():
    operator = BoxStencil((4, 5, 6), 2, 124.0, -1.0)
    assert isinstance(operator, Operator)
    assert as_operator(operator) is operator
    matrix = operator.to_csr()
    assert (operator.shape, operator.dtype, operator.nnz) == (matrix.shape, matrix.dtype, matrix.nnz)
    np.testing.assert_array_equal(operator.diagonal(), matrix.diagonal())
    for grid in ((4, 5, 6), (2, 9), (1, 1, 3)):
        operator = BoxStencil(grid, 1, 26.0, -1.5)
        assert operator.largest_row_sum == abs(operator.to_csr()).sum(axis=1).max()
    bound = operator.bind(CPU)
    assert isinstance(bound, BoxStencilProduct)
    assert bound.traffic == 2 * 3 * 8
    assert bound.flops > 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (((), 1, 1.0, 1.0), "a box operator needs 1 to 3 sides of at least one cell each, got the grid ()"),
        (((2, 0), 1, 1.0, 1.0), "a box operator needs 1 to 3 sides of at least one cell each, got the grid (2, 0)"),
        (((2, 2), 0, 1.0, 1.0), "the reach of a box operator must be between 1 and 8, got 0"),
        (((2, 2), 9, 1.0, 1.0), "the reach of a box operator must be between 1 and 8, got 9"),
        (((2,), 1, np.nan, 1.0), "the diagonal of a box operator must be a finite real number, got nan"),
        (((2,), 1, 1.0, 1j), "the coupling of a box operator must be a finite real number, got 1j"),
        (((2,), 1, 1.0, 1.0, np.int64), NO_DTYPE),
    ],
)  # fmt: skip
def test_refusals(given, sentence):
    assert refusal(BoxStencil, *given) == sentence


def test_a_matrix_beyond_32_bits_is_refused():
    operator = BoxStencil((260, 260, 260), 2, 124.0, -1.0)
    assert operator.nnz == (5 * 260 - 6) ** 3
    with pytest.raises(InputError, match="2166720184 entries, more than 32-bit indices can count"):
        operator.to_csr()


@pytest.mark.parametrize(
    "level",
    [
        *(
            {"preconditioner": name}
            for name in sorted(set(registry.registered("preconditioner")) - {"adi", "amgx", "mg", "petsc"})
        ),
        *({"deflation": name} for name in ("stripes", "planes", "blocks:3", "eigenvectors:4", "ritz")),
    ],
    ids=name_of,
)
def test_matrix_free_and_assembled_take_equal_iterations(level):
    assembled, free = (
        run_through(Run(configure("poisson125", {"n": 9, "form": form}, stopping=Stopping(rtol=1e-10), **level)))
        for form in ("assembled", "matrix-free")
    )
    assert assembled.converged
    assert assembled.iterations == free.iterations
    np.testing.assert_allclose(free.x, assembled.x, rtol=1e-9)


def test_a_user_defined_box_is_solved():
    operator = BoxStencil((5, 7), 1, 9.0, -1.0, np.dtype(np.complex128))
    b = random_values(35, "complex128")
    result = solve(operator, b, rtol=1e-12)
    np.testing.assert_allclose(result.x, np.linalg.solve(operator.to_csr().toarray(), b), rtol=1e-9)
