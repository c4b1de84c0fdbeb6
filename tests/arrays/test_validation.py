"""Validation of arrays and functions from outside: accepted dtypes and shapes, and the messages for the rest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.sparse import linalg

from workbench.arrays import validation as arrays
from workbench.errors import InputError


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_valid_vectors_are_not_copied(dtype):
    values = np.arange(5, dtype=dtype)
    converted = arrays.finite_vector(values, "b", 5)
    assert converted.dtype == dtype
    assert np.shares_memory(converted, values)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "bool", "float16"])
def test_integers_and_half_precision_become_double_precision(dtype):
    converted = arrays.finite_vector(np.ones(4, dtype), "b", 4)
    assert converted.dtype == np.float64
    assert np.array_equal(converted, np.ones(4))


def test_a_single_column_is_accepted_as_a_vector():
    assert arrays.finite_vector(np.ones((3, 1)), "b", 3).shape == (3,)


@pytest.mark.parametrize(
    ("array_like", "message"),
    [
        (np.ones((1, 3)), r"b has shape \(1, 3\), but the matrix has 3 rows"),
        (np.ones(4), r"b has shape \(4,\)"),
        (3.0, r"b has shape \(\)"),
        (None, "b must hold numbers, got dtype object"),
        (["1", "2", "3"], "b must hold numbers"),
        ([[1.0], [2.0, 3.0]], "b is not an array of numbers"),
        (np.array([1, None, 2]), "b must hold numbers"),
        (np.array([0.0, np.nan, 0.0]), "b holds nan at entry 1"),
        (np.array([0.0, 0.0, -np.inf]), "b holds -inf at entry 2"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]), "b is a masked array.*filled"),
        (sparse.csr_array(np.ones((3, 1))), "b is sparse; pass b.toarray"),
        (np.full(3, 2**60 + 1), "digits that double precision does not hold"),
    ],
)
def test_invalid_vectors_raise_one_sentence(array_like, message):
    with pytest.raises(InputError, match=message) as caught:
        arrays.finite_vector(array_like, "b", 3)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize <= 8, reason="long double is double precision here")
def test_lossy_conversion_to_double_precision_is_refused():
    with pytest.raises(InputError, match="digits that double precision does not hold; round it yourself"):
        arrays.finite_vector(np.ones(3, np.longdouble) / 3, "b", 3)
    assert arrays.finite_vector(np.ones(3, np.longdouble), "b", 3).dtype == np.float64
    with pytest.raises(InputError, match="digits that double precision does not hold"), np.errstate(over="raise"):
        arrays.finite_vector(np.full(3, np.longdouble("1e400")), "b", 3)


def test_complex_values_are_refused_for_a_real_system():
    with pytest.raises(InputError, match="x0 is complex, but the system is float64"):
        arrays.cast(np.array([1 + 0j]), np.dtype(np.float64), "x0")
    assert arrays.cast(np.array([1.5]), np.dtype(np.complex64), "x0").dtype == np.complex64


@given(hnp.arrays(st.sampled_from(["f2", "f4", "f8", "c8", "c16", "i4", "U2", "O", "?"]), st.integers(0, 6)))
def test_any_array_is_converted_exactly_or_refused(values):
    try:
        converted = arrays.finite_vector(values, "b", values.size)
    except InputError:
        return
    assert np.isfinite(converted).all()
    assert np.array_equal(converted, values.astype(converted.dtype))


def host_function(function, dtype=np.float64, declared=None):
    return arrays.HostFunction("M", function, 3, np.dtype(dtype), declared)


def test_functions_receive_copies():
    x = np.arange(3.0)
    doubled = host_function(lambda v: np.multiply(v, 2, out=v))
    assert np.array_equal(doubled(x), [0, 2, 4])
    assert np.array_equal(x, [0, 1, 2])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda v: None, r"M must return a vector of shape \(3,\), but it returned None"),
        (lambda v: 2.0, r"returned shape \(\)"),
        (lambda v: v[:2], r"returned shape \(2,\)"),
        (lambda v: "abc", "it returned 'abc'"),
        (lambda v: [[1.0], [2.0, 3.0]], r"it returned \[\[1.0\], \[2.0, 3.0\]\]"),
        (lambda v: 1j * v, "M returned complex128 for a system that is float64"),
    ],
)
def test_invalid_return_values_are_refused_by_name(function, message):
    with pytest.raises(InputError, match=message):
        host_function(function)(np.ones(3))


def test_a_real_linear_map_is_applied_to_real_and_imaginary_part():
    dtypes = []

    def real_map(v):
        dtypes.append(v.dtype)
        return 2 * v

    value = host_function(real_map, np.complex128, np.dtype(np.float64))(np.array([1 + 2j, 0, 3j]))
    assert np.array_equal(value, [2 + 4j, 0, 6j])
    assert set(dtypes) == {np.dtype(np.float64)}


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_function_that_declares_real_values_and_returns_others_is_told(dtype):
    with pytest.raises(InputError, match="M declares float64, but returned complex128; declare it as complex128"):
        host_function(lambda v: 1j * v, dtype, np.dtype(np.float64))(np.ones(3, dtype))


def test_a_real_linear_map_may_reuse_one_output_buffer():
    buffer = np.empty(3)
    value = host_function(lambda v: np.multiply(v, 2, out=buffer), np.complex128, np.dtype(np.float64))(
        np.array([1 + 2j, 0, 3j])
    )
    assert np.array_equal(value, [2 + 4j, 0, 6j])


def test_a_failing_linear_operator_is_named_with_its_error():
    broken = linalg.LinearOperator((3, 3), matvec=lambda v: v[:2], dtype=np.float64)
    with pytest.raises(InputError, match=r"A, a LinearOperator, failed on a vector of shape \(3,\): ValueError"):
        arrays.matvec_function(broken, "A", np.dtype(np.float64))(np.ones(3))
