"""Norms near under- and overflow, and scaling by powers of two."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.arrays import scaling


@pytest.mark.parametrize("size", [0, 8192, 8193, 20001])
def test_dot_products_by_pieces(size):
    a, b = np.random.default_rng(size).standard_normal((2, 2, size))
    for x, y in ((a[0], b[0]), (a[0] + 1j * a[1], b[0] + 1j * b[1])):
        assert scaling.dot(x, y) == pytest.approx(np.sum(x.conj() * y), rel=1e-12, abs=1e-12 * size)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@settings(max_examples=60)
@given(size=st.integers(1, 200), exponent=st.integers(-300, 300), seed=st.integers(0, 1000))
def test_norms_agree_with_extended_precision(dtype, size, exponent, seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(size) + (1j * rng.standard_normal(size) if dtype[0] == "c" else 0)
    low = -35 if np.finfo(dtype).dtype == np.float32 else -300
    vector = (values * 10.0 ** max(low, min(-low, exponent))).astype(dtype)
    wide = vector.astype(np.clongdouble)
    largest = np.abs(wide).max()
    expected = float(largest * np.sqrt(np.sum(np.abs(wide / largest) ** 2)))
    assert scaling.norm(vector) == pytest.approx(expected, rel=1e-14 * math.sqrt(size))


def test_norms_of_subnormal_and_overflowing_vectors():
    assert scaling.norm(np.zeros(3)) == 0
    assert scaling.norm(np.full(4, 5e-324)) == 1e-323
    assert scaling.norm(np.full(4, 8e307)) == 1.6e308
    assert scaling.norm(np.full(4, 1.7e308)) == math.inf
    assert scaling.norm(np.array([1.0, np.inf])) == math.inf
    assert math.isnan(scaling.norm(np.array([1.0, np.nan])))
    assert scaling.norm(np.empty(0)) == 0


@given(st.lists(st.floats(-1e10, 1e10), min_size=1, max_size=20), st.integers(-200, 200))
def test_scaling_by_a_power_of_two_is_exact(values, exponent):
    vector = np.where(np.abs(values) < 1e-200, 0, values)
    assert np.array_equal(scaling.scaled(scaling.scaled(vector, exponent), -exponent), vector)


def test_scaling_copies_complex_arrays():
    vector = np.array([1 + 2j, -3j])
    assert np.array_equal(scaling.scaled(vector, 3), 8 * vector)
    assert vector[0] == 1 + 2j


@pytest.mark.parametrize(
    ("norm", "dtype", "extreme"),
    [
        (1.0, "f8", False),
        (0.0, "f8", False),
        (1e-20, "f8", False),
        (1e-100, "f8", True),
        (1e100, "f8", True),
        (math.inf, "f8", True),
        (math.nan, "f8", True),
        (1e-20, "f4", True),
        (1e5, "c8", False),
    ],
)
def test_which_norms_need_scaling(norm, dtype, extreme):
    assert scaling.is_extreme(norm, np.dtype(dtype)) is extreme
