"""Storage formats on every device: each product is that of CSR by SciPy, for one vector and for several columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, random_values
from tests.devices.comparing import same
from tests.devices.test_operators import MATRICES, units_of
from workbench import devices
from workbench.devices.host import storage
from workbench.devices.ops.storage import FEW
from workbench.settings import FORMATS

LARGE = ("all in the first row", "all in the middle row", "all in the last row")
"""Of which DIA and ELL would store N^2 zeros."""


def one_dense_row(dtype, size=3001):
    """And one dense column, and a diagonal with gaps."""
    rng = np.random.default_rng(1)
    matrix = sparse.lil_array((size, size), dtype=dtype)
    matrix[size // 2] = random_values(size, dtype, rng)
    matrix[:, size - 1] = random_values(size, dtype, rng)[:, None]
    return sparse.csr_array(matrix)


CASES = {name: made for name, made in MATRICES.items() if name not in LARGE}
CASES |= {"one dense row": one_dense_row, "1 x 1": lambda dtype: sparse.csr_array(np.full((1, 1), 3, dtype))}


@on_devices(format=FORMATS, name=list(CASES), dtype=DTYPES)
def test_products(device, case):
    matrix = CASES[case["name"]](np.dtype(case["dtype"]))
    if case["format"] == "dia" and storage.stored("dia", matrix).values > 1e7:
        matrix = matrix[:2000, :2000]
    bound, x = device.stored(matrix, case["format"]), random_values(matrix.shape[0], case["dtype"], 1)
    same(device, bound, lambda v: matrix @ v, x, eps=units_of(matrix))
    item = matrix.data.itemsize
    assert bound.traffic >= (storage.stored(case["format"], matrix).values + 2 * matrix.shape[0]) * item


@on_devices(format=["coo", "hyb"], name=LARGE)
def test_products_where_one_row_has_all_entries(device, case):
    format, name = case["format"], case["name"]
    matrix = MATRICES[name](np.float64)
    x = random_values(matrix.shape[0], np.float64, 1)
    same(device, device.stored(matrix, format), lambda v: matrix @ v, x, eps=units_of(matrix))


@on_devices(format=FORMATS, columns=[2, 3, 8, 17], name=["many rows", "one dense row", "1 x 1"], dtype=DTYPES)
def test_products_with_several_columns(device, case):
    matrix = CASES[case["name"]](np.dtype(case["dtype"]))
    x = random_values((matrix.shape[0], case["columns"]), case["dtype"], 1)
    placed, out = device.array(x, x.dtype), device.array(np.full_like(x, np.nan), x.dtype)
    device.stored(matrix, case["format"]).block(case["columns"]).apply(placed, out)
    expected = matrix @ x
    atol = units_of(matrix) * np.finfo(x.dtype).eps * max(1, np.abs(expected).max())
    np.testing.assert_allclose(device.to_host(out), expected, rtol=0, atol=atol)


@settings(max_examples=30)
@given(st.integers(1, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), min_size=1, max_size=120))
@pytest.mark.parametrize("format", FORMATS)
def test_any_pattern(format, size, places):
    rows, columns = np.array(places).T % size
    values = np.arange(1.0, rows.size + 1)
    matrix = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(size, size)))
    device, x, out = devices.device("cpu"), random_values(size, np.float64), np.full(size, np.nan)
    device.stored(matrix, format).apply(x, out)
    np.testing.assert_allclose(out, matrix @ x, rtol=1e-12, atol=1e-12 * values.sum())
    dense, found = matrix.toarray(), storage.stored(format, matrix)
    assert found.values == np.count_nonzero(dense) + found.padding


def test_what_the_papers_example_stores():
    """Figures 2 and 3 of the block CG paper: 4 rows of 2, 3, 1 and 2 entries."""
    dense = np.array([[0, 5, 1, 0], [2, 0, 8, 3], [0, 0, 5, 0], [0, 9, 4, 0]], float)
    matrix = sparse.csr_array(dense)
    assert storage.stored("coo", matrix) == storage.Stored(8, 16)
    assert storage.stored("csr", matrix) == storage.Stored(8, 8 + 5)
    # Distances -2, -1, 0, 1 and 2.
    assert storage.stored("dia", matrix) == storage.Stored(20, 5, 12, 5)
    assert storage.stored("ell", matrix) == storage.Stored(12, 12, 4, 3)
    # Two rows have at least two entries, which is a third and more; the third entry of row 1 is the rest.
    assert storage.stored("hyb", matrix) == storage.Stored(9, 8 + 2, 1, 2)
    values, columns, rest = storage.ell_arrays(matrix, 2, rowwise=False)
    assert values.tolist() == [5, 2, 5, 9, 1, 8, 0, 4]
    assert columns.tolist() == [1, 0, 2, 1, 2, 2, 2, 2]
    assert rest.toarray()[1].tolist() == [0, 0, 0, 3]
    assert rest.nnz == 1
    assert storage.dia_values(matrix, storage.diagonals(matrix), rowwise=True).reshape(4, 5)[1].tolist() == [
        0,
        2,
        0,
        8,
        3,
    ]


@pytest.mark.parametrize("diagonals", [1, 2, FEW, FEW + 1])
def test_few_and_many_diagonals(device, diagonals):
    """Also such that reach beyond the matrix from every row."""
    for size in (1, 3, 40, 5001):
        offsets = [k for k in range(-diagonals // 2, diagonals) if abs(k) < size][:diagonals] or [0]
        matrix = sparse.diags_array([1.5 + k for k in offsets], offsets=offsets, shape=(size, size)).tocsr()
        x = random_values(size, np.float64, 1)
        same(device, device.stored(matrix, "dia"), lambda v, matrix=matrix: matrix @ v, x, eps=400)
