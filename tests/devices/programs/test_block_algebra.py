"""Gram matrices and products with small matrices, on every device, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, random_values
from workbench import devices
from workbench.devices.accelerator.block_algebra import STATE
from workbench.devices.cpu import block_algebra
from workbench.jit.c_abi import kinds_of
from workbench.jit.work_stealing import counters

SIZES, COLUMNS = (1, 63, 1000), (1, 3, 17, 64)


def check(device, size, s, t, dtype):
    """All operations of the algebra on random blocks."""
    rng = np.random.default_rng(size + s + t)
    X, Y = random_values((size, s), dtype, rng), random_values((size, t), dtype, rng)
    x, y = device.array(X, X.dtype), device.array(Y.copy(), Y.dtype)
    wide = np.result_type(dtype, np.float64)
    expected = X.astype(wide).conj().T @ Y.astype(wide)
    algebra = device.block_algebra()
    near = {"rtol": 1e-12, "atol": 1e-12 * size}
    np.testing.assert_allclose(algebra.gram(x, y)(), expected, **near)
    np.testing.assert_allclose(algebra.gram(x, y, transposed=True)(), X.astype(wide).T @ Y.astype(wide), **near)
    small = random_values((s, t), dtype, rng)
    near = {"rtol": 0, "atol": 50 * np.finfo(dtype).eps * s}
    algebra.combine(y, y, x, (s, t))(small)
    np.testing.assert_allclose(device.to_host(y), Y + X @ small, **near)
    if s == t:
        check_square(device, algebra, X, small, near)


def check_device_matrices(device, algebra, x, y, X, Y, near):
    """The same with small matrices that the device holds, where it does."""
    s, dtype = X.shape[1], X.dtype
    matrices = algebra.device_matrices(dtype, s, None)
    if matrices is None:
        return
    algebra.gram(x, y, device_matrices=matrices, name="G")()
    algebra.column_dots(x, y, device_matrices=matrices, name="d")()
    wide = np.result_type(dtype, np.float64)
    expected = X.astype(wide).conj().T @ Y.astype(wide)
    np.testing.assert_allclose(matrices["G"], expected, rtol=1e-12, atol=1e-12 * len(X))
    np.testing.assert_allclose(matrices["d"], np.diag(expected), rtol=1e-12, atol=1e-12 * len(X))
    matrices["C"] = small = random_values((s, s), dtype)
    algebra.combine(y, y, x, (s, s), sign=-1, device_matrices=matrices, name="C")()
    np.testing.assert_allclose(device.to_host(y), Y - X @ small, **near)
    # A device that has stopped changes nothing.
    matrices[STATE] = np.ones(matrices.stopped.size)
    algebra.combine(y, None, x, (s, s), device_matrices=matrices, name="C")()
    algebra.combine(y, None, x, (s,), device_matrices=matrices, name="d")()
    algebra.gram(x, x, device_matrices=matrices, name="G")()
    np.testing.assert_allclose(device.to_host(y), Y - X @ small, **near)
    np.testing.assert_allclose(matrices["G"], expected, rtol=1e-12, atol=1e-12 * len(X))


def check_square(device, algebra, X, small, near):
    """Products in place, and the columnwise operations."""
    s = X.shape[1]
    x = device.array(X.copy(), X.dtype)
    algebra.combine(x, None, x, (s, s))(small)
    np.testing.assert_allclose(device.to_host(x), X @ small, **near)
    x, y = device.array(X.copy(), X.dtype), device.array(2 * X, X.dtype)
    wide = np.result_type(X.dtype, np.float64)
    dots = 2 * np.sum(X.astype(wide).conj() * X.astype(wide), axis=0)
    np.testing.assert_allclose(algebra.column_dots(x, y)(), dots, rtol=1e-12)
    products = 2 * np.sum(X.astype(wide) ** 2, axis=0)
    np.testing.assert_allclose(algebra.column_dots(x, y, transposed=True)(), products, rtol=1e-12, atol=1e-12 * X.size)
    algebra.combine(y, x, y, (s,))(small[0])
    np.testing.assert_allclose(device.to_host(y), X + 2 * X * small[0], **near)
    algebra.combine(y, None, x, (s,))(small[0])
    np.testing.assert_allclose(device.to_host(y), X * small[0], **near)
    check_device_matrices(device, algebra, x, device.array(2 * X, X.dtype), X, 2 * X, near)


@on_devices(size=SIZES, s=COLUMNS, t=COLUMNS, dtype=DTYPES)
def test_gram_matrices_and_products(device, case):
    check(device, **case)


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(size=st.integers(1, 40_000), s=st.sampled_from((2, 5)))
def test_any_number_of_rows(size, s):
    check(devices.device("cpu"), size, s, s, "float64")


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    from workbench.jit import threads

    rng = np.random.default_rng(0)
    X = random_values((50_000, 4), "float64", rng)
    gram = devices.device("cpu").block_algebra().gram(X, X)
    several = gram()
    monkeypatch.setattr(threads, "WORTH_SHARING", 10**9)
    assert (gram() == several).all()


def test_an_empty_product_of_a_column():
    algebra = devices.device("cpu").block_algebra()
    X = np.zeros((5, 1))
    assert algebra.gram(X, X)() == pytest.approx(np.zeros((1, 1)))


@pytest.mark.parametrize("operation", ["gram", "column_dots", "combine", "scale"])
def test_texts_to_compile_grow_no_faster_than_columns(operation, monkeypatch):
    found = []

    def lines(columns):
        X = np.zeros((3, columns))
        if operation in ("gram", "column_dots"):
            getattr(block_algebra, operation)(X, X)
        else:
            block_algebra.combine(X, None, X, (columns, columns) if operation == "combine" else (columns,))
        return found.pop().count("\n")

    def read(kernel, *arguments):
        found.append(kernel.text(kinds_of((counters(1), *arguments))).llvm)

    monkeypatch.setattr(block_algebra, "prepare", read)
    assert lines(256) <= 4 * lines(64)
