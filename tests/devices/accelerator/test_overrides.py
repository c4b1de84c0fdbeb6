"""What an accelerator runs in place of a plain text gives what that text gives, in all forms of the operators."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators
from tests.conftest import SIDE_BY_SIDE, grid_stencil, random_values
from workbench.devices.accelerator import device, grid_columns
from workbench.devices.accelerator.bound import Plain, bind
from workbench.devices.accelerator.sparse_rows import LONG, TILES
from workbench.devices.host.face_coding import face_codes
from workbench.devices.ops.csr import RowBlock

DTYPES = ("float32", "float64", "complex64", "complex128")


class Compared:
    """The override of a kernel and its plain text, called with the same random vectors."""

    def __init__(self, device, request, made):
        self.device, self.made, self.plain = device, made, Plain(device, request)

    def check(self):
        free = {name: self.made.form.arguments[name] for name in self.made.free}
        vectors = {name: self._vector(name, of) for name, of in free.items()}
        found, expected = ({}, {})
        for of, results in ((self.made, found), (self.plain, expected)):
            placed = {name: self.device.array(values, values.dtype) for name, values in vectors.items()}
            dots = of(*placed.values())
            results |= {name: self.device.to_host(placed[name]) for name in vectors}
            results |= {} if dots is None else {"dots": dots.to_host()}
            if of.column_sums is not None:
                results["column sums"] = self.device.to_host(of.column_sums).sum(axis=0)
        for name, values in expected.items():
            scale = np.abs(values).max(initial=1)
            tolerance = 200 * np.finfo(self.made.request.dtype).eps * scale
            np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance, err_msg=name)
        assert found.keys() == expected.keys()
        assert (self.made.fixed.keys(), self.made.free) == (self.plain.fixed.keys(), self.plain.free)

    def _vector(self, name, of):
        rng, request = np.random.default_rng(len(name)), self.made.request
        size = max(request.rows, int(request.fixed.get("size", 0)))
        values = rng.uniform(-1, 1, (size, request.columns) if of.block else size)
        return (values + 1j * values[::-1] if of.dtype.kind == "c" else values).astype(of.dtype)


@pytest.fixture
def compared(monkeypatch):
    """The overrides that are bound while the test runs; on some layouts there are none."""
    pairs = []

    def kept(device, request):
        made = bind(device, request)
        if type(made) is not Plain:
            pairs.append(Compared(device, request, made))
        return made

    monkeypatch.setattr(device, "bind", kept)
    return pairs


def check(compared, *kernels):
    """Those of these kernels."""
    assert {one.made.request.kernel.name for one in compared} <= {*kernels}
    for one in compared:
        one.check()


@on_accelerators(dtype=DTYPES, grid=[(70,), (9, 31), (9, 36), (7, 8, 9), (5, 7, 12)], constant=[False, True])
def test_stencils_and_faces(accelerator, compared, monkeypatch, case):
    """Where a side is a multiple of four cells, as with large vectors: a work-item has several cells."""
    if case["grid"][-1] % 4 == 0:
        monkeypatch.setattr(grid_columns, "SWEPT_BYTES", 0)
    grid, dtype = case["grid"], np.dtype(case["dtype"])
    operator = grid_stencil(grid, dtype)
    main = np.full(operator.main.size, 3, dtype) if case["constant"] else operator.main
    accelerator.stencil(main, operator.lower, operator.strides)
    if dtype.kind == "f":
        phase, sides = (
            np.arange(operator.main.size).reshape(grid) % 3,
            [case["constant"], *[True] * (2 * len(grid) - 1)],
        )
        accelerator.faces(face_codes(phase, (1.0, 0.5, 0.25), sides, (2.0, 3.0)), dtype)
    check(compared, "stencil", "face_product")


# On a processor, where a work-item has whole rows, the text is the plain one.
@pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)
@pytest.mark.parametrize(
    ("dtype", "density", "widths"),
    [("float64", 0.08, (5, 16)), ("complex64", 0.04, (2, 33)), ("float32", 0.3, (3, 16)), ("complex128", 0.3, (2, 20))],
)
def test_csr_products_blocks_terms_and_blocks_of_rows(accelerator, compared, dtype, density, widths):
    """Of a matrix with empty rows and one that is longer than a tile, and few or many entries in the others."""
    rows = sparse.random_array((300, 301), density=density, rng=1, format="lil")
    rows[:3] = 0
    matrix = sparse.csr_array(sparse.vstack([rows, np.ones((1, 301))]))
    matrix.data = random_values(matrix.nnz, dtype)
    parts, ones = (matrix.data, matrix.indices, matrix.indptr), accelerator.array(np.ones(301), np.dtype(dtype))
    for items in (TILES, 8):
        product = accelerator.csr(*parts, items)
    for columns in widths:
        for added in (False, True):
            product.block(columns, added=added)
    accelerator.csr_terms(sparse.csr_array(sparse.tril(matrix, k=-1, format="csr")), ones)
    for remote in (None, ones):
        RowBlock(accelerator, *parts[:2], parts[2][:-1], parts[2][1:], remote=remote)
    # Short rows of one triangle have the plain text.
    assert len(compared) == (11 if density >= 0.08 else 10)
    check(compared, "csr")


@on_accelerators(dtype=DTYPES, block=[1, 30, 90, 1200])
def test_block_solves(accelerator, compared, case):
    operator, block = grid_stencil((40, 30), case["dtype"], shift=1.0), case["block"]
    lower = sparse.coo_array(sparse.tril(operator.to_csr(), k=-1))
    inside = lower.row // block == lower.col // block
    places = lower.row[inside], lower.col[inside]
    lower = sparse.csr_array((lower.data[inside], places), shape=lower.shape)
    inverse = accelerator.array((1 / operator.main).astype(case["dtype"]), case["dtype"])
    accelerator.csr_factor(lower, inverse, block, 0.5)
    check(compared, "block_solve")


@pytest.mark.parametrize(("longest", "tiles"), [(LONG - 1, False), (LONG, True)])
def test_one_long_row_among_short_ones_is_read_by_a_group(accelerator, compared, longest, tiles):
    indptr = np.append(np.arange(300), 299 + longest)
    matrix = sparse.csr_array((np.ones(indptr[-1]), np.arange(indptr[-1]) % 300, indptr), shape=(300, 300))
    accelerator.csr(matrix.data, matrix.indices, matrix.indptr)
    assert len(compared) == (tiles and not accelerator.layout.chunked)
    check(compared, "csr")
