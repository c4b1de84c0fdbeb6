"""The second level on every accelerator against NumPy; shapes, precisions and layouts are combined pairwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

from tests.all_pairs import on_accelerators
from tests.conftest import DTYPES, random_values
from workbench.devices.accelerator import coarse
from workbench.devices.coarse import Banded, Dense
from workbench.lines.types import accumulator


def labellings():
    rng = np.random.default_rng(0)
    size = 10007
    return {
        "one": np.zeros(size, np.int32),
        "long runs": np.arange(size, dtype=np.int32) * 5 // size,
        "short runs": (np.arange(size, dtype=np.int32) // 3) % 17,
        "no runs": np.concatenate([np.arange(70), rng.integers(0, 70, size - 70)]).astype(np.int32),
        "each its own": np.arange(333, dtype=np.int32),
    }


@on_accelerators(labels=list(labellings()), dtype=DTYPES)
def test_subdomains(accelerator, case):
    name, dtype = case["labels"], case["dtype"]
    labels, wide = labellings()[name], accumulator(np.dtype(dtype))
    count, w = int(labels.max()) + 1, random_values(labels.size, dtype)
    z = accelerator.subdomains(labels, count, w.dtype)
    expected = np.zeros(count, wide)
    np.add.at(expected, labels, w.astype(wide))
    np.testing.assert_allclose(
        accelerator.to_host(z.restrict(accelerator.array(w, w.dtype))), expected, rtol=0, atol=1e-11
    )
    a = random_values(count, wide, 1)
    for move, sign in ((z.add, 1), (z.subtract, -1)):
        x = accelerator.array(w, w.dtype)
        move(x, accelerator.array(a, wide))
        np.testing.assert_allclose(accelerator.to_host(x), w + sign * a[labels], rtol=0, atol=4 * np.finfo(dtype).eps)


@on_accelerators(shape=[(1, 1), (3, 7), (8, 40011), (0, 9)], dtype=DTYPES)
def test_columns(accelerator, case):
    shape, dtype = case["shape"], case["dtype"]
    rows, w, wide = random_values(shape, dtype), random_values(shape[1], dtype, 1), accumulator(np.dtype(dtype))
    z = accelerator.columns(rows)
    found = accelerator.to_host(z.restrict(accelerator.array(w, w.dtype)))
    np.testing.assert_allclose(found, rows.conj().astype(wide) @ w.astype(wide), rtol=0, atol=1e-10)
    a = random_values(shape[0], wide, 2)
    for move, sign in ((z.add, 1), (z.subtract, -1)):
        x = accelerator.array(w, w.dtype)
        move(x, accelerator.array(a, wide))
        expected = w + sign * (a @ rows.astype(wide))
        np.testing.assert_allclose(accelerator.to_host(x), expected, rtol=0, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_compact_columns(accelerator, dtype):
    rng = np.random.default_rng(0)
    dense = random_values((3001, 7), dtype) * (rng.random((3001, 7)) < 0.2) * (rng.random((3001, 1)) < 0.3)
    az, w = sparse.csr_array(dense.astype(dtype)), random_values(3001, dtype, 1)
    a = random_values(7, accumulator(np.dtype(dtype)), 2)
    x = accelerator.array(w, w.dtype)
    accelerator.compact_columns(az).subtract(x, accelerator.array(a, a.dtype))
    np.testing.assert_allclose(accelerator.to_host(x), w - dense @ a, rtol=0, atol=20 * np.finfo(dtype).eps)


def test_an_empty_az(accelerator):
    x = accelerator.array(np.ones(9), np.dtype(float))
    accelerator.compact_columns(sparse.csr_array((9, 2))).subtract(x, accelerator.zeros(2, np.dtype(float)))
    np.testing.assert_array_equal(accelerator.to_host(x), np.ones(9))


def definite(size, width, dtype):
    """A banded Hermitian positive definite matrix."""
    whole = random_values((size, size), dtype)
    whole = np.triu(np.tril(whole, width), -width)
    return whole @ whole.conj().T + size * np.eye(size)


@on_accelerators(
    form=["dense", "band", "band of many vectors", "host"],
    size_and_width=[(1, 0), (5, 1), (150, 70)],
    dtype=["float64", "complex128"],
)
def test_coarse_solves(accelerator, monkeypatch, case):
    form, dtype, (size, width) = case["form"], case["dtype"], case["size_and_width"]
    if form == "band of many vectors":
        monkeypatch.setattr(coarse, "MOST_DENSE_ON_GPU", 0)
    matrix, count = definite(size, width, dtype), size + 1
    order = np.random.default_rng(1).permutation(size)
    inverse = np.linalg.inv(matrix)

    def on_the_host(a):
        return np.append(inverse @ a[:size], 0)

    shape = None
    if form == "dense":
        shape = Dense(inverse)
    if form.startswith("band"):
        turned = matrix[order][:, order]
        factor = linalg.cholesky(turned, lower=True)
        band = np.zeros((size, size), dtype)
        for k in range(size):
            band[k, : size - k] = np.diag(factor, -k)
        shape = Banded(band, order)
    level = accelerator.coarse_level(shape, on_the_host, count, matrix.dtype)
    a = random_values(count, dtype, 3)
    solved = level.solve(accelerator.array(a, a.dtype))
    np.testing.assert_allclose(accelerator.to_host(solved), on_the_host(a), rtol=0, atol=1e-12)
    assert level.waits == (form == "host")
    dots = accelerator.dots(a.dtype).apply(*[accelerator.array(a, a.dtype)] * 2)
    level.correct_curvature(dots, accelerator.array(a, a.dtype), solved)
    np.testing.assert_allclose(dots.to_host()[0], np.vdot(a, a) - np.vdot(a, on_the_host(a)), rtol=1e-12)
