"""Arrays and functions from outside: what is taken, in which precision, and the sentence for what is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.sparse import linalg

from workbench import arrays
from workbench.errors import InputError


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_vectors_in_order_are_taken_as_they_are(dtype):
    values = np.arange(5, dtype=dtype)
    taken = arrays.vector(values, "b", 5)
    assert taken.dtype == dtype
    assert np.shares_memory(taken, values)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "bool", "float16"])
def test_exact_small_numbers_become_double_precision(dtype):
    taken = arrays.vector(np.ones(4, dtype), "b", 4)
    assert taken.dtype == np.float64
    assert np.array_equal(taken, np.ones(4))


def test_a_column_is_a_vector():
    assert arrays.vector(np.ones((3, 1)), "b", 3).shape == (3,)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (np.ones((1, 3)), r"b has shape \(1, 3\), but the matrix has 3 rows"),
        (np.ones(4), r"b has shape \(4,\)"),
        (3.0, r"b has shape \(\)"),
        (None, "b must hold numbers, got dtype object"),
        (["1", "2", "3"], "b must hold numbers"),
        ([[1.0], [2.0, 3.0]], "b is no array of numbers"),
        (np.array([1, None, 2]), "b must hold numbers"),
        (np.array([0.0, np.nan, 0.0]), "b holds nan at entry 1"),
        (np.array([0.0, 0.0, -np.inf]), "b holds -inf at entry 2"),
        (np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]), "b is a masked array.*filled"),
        (sparse.csr_array(np.ones((3, 1))), "b is sparse; pass b.toarray"),
        (np.full(3, 2**60 + 1), "digits that double precision does not hold"),
    ],
)
def test_what_is_no_vector_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        arrays.vector(given, "b", 3)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize <= 8, reason="long double is double precision here")
def test_more_digits_than_double_precision_has_are_not_dropped():
    with pytest.raises(InputError, match="digits that double precision does not hold; round it yourself"):
        arrays.vector(np.ones(3, np.longdouble) / 3, "b", 3)
    assert arrays.vector(np.ones(3, np.longdouble), "b", 3).dtype == np.float64
    with pytest.raises(InputError, match="digits that double precision does not hold"), np.errstate(over="raise"):
        arrays.vector(np.full(3, np.longdouble("1e400")), "b", 3)


def test_an_imaginary_part_is_never_dropped():
    with pytest.raises(InputError, match="x0 is complex, but the system is float64"):
        arrays.cast(np.array([1 + 0j]), np.dtype(np.float64), "x0")
    assert arrays.cast(np.array([1.5]), np.dtype(np.complex64), "x0").dtype == np.complex64


@settings(deadline=None)
@given(hnp.arrays(st.sampled_from(["f2", "f4", "f8", "c8", "c16", "i4", "U2", "O", "?"]), st.integers(0, 6)))
def test_any_array_is_a_vector_of_the_same_numbers_or_a_sentence(values):
    try:
        taken = arrays.vector(values, "b", values.size)
    except InputError:
        return
    assert np.isfinite(taken).all()
    assert np.array_equal(taken, values.astype(taken.dtype))


def function(made, dtype=np.float64, *, split=False):
    return arrays.HostFunction("M", made, 3, np.dtype(dtype), split)


def test_functions_are_handed_copies():
    x = np.arange(3.0)
    doubled = function(lambda v: np.multiply(v, 2, out=v))
    assert np.array_equal(doubled(x), [0, 2, 4])
    assert np.array_equal(x, [0, 1, 2])


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda v: None, r"M must return a vector of shape \(3,\), but it returned None"),
        (lambda v: 2.0, r"returned shape \(\)"),
        (lambda v: v[:2], r"returned shape \(2,\)"),
        (lambda v: "abc", "it returned 'abc'"),
        (lambda v: [[1.0], [2.0, 3.0]], r"it returned \[\[1.0\], \[2.0, 3.0\]\]"),
        (lambda v: 1j * v, "M returned complex128 for a system that is float64"),
    ],
)
def test_functions_that_return_no_vector_of_the_system_are_named(made, sentence):
    with pytest.raises(InputError, match=sentence):
        function(made)(np.ones(3))


def test_a_real_map_takes_a_complex_vector_in_two_parts():
    seen = []

    def real_map(v):
        seen.append(v.dtype)
        return 2 * v

    value = function(real_map, np.complex128, split=True)(np.array([1 + 2j, 0, 3j]))
    assert np.array_equal(value, [2 + 4j, 0, 6j])
    assert set(seen) == {np.dtype(np.float64)}


def test_a_real_map_may_fill_one_buffer_for_both_parts():
    buffer = np.empty(3)
    value = function(lambda v: np.multiply(v, 2, out=buffer), np.complex128, split=True)(np.array([1 + 2j, 0, 3j]))
    assert np.array_equal(value, [2 + 4j, 0, 6j])


def test_a_linear_operator_that_fails_says_which_and_why():
    broken = linalg.LinearOperator((3, 3), matvec=lambda v: v[:2], dtype=np.float64)
    with pytest.raises(InputError, match=r"A, a LinearOperator, failed on a vector of shape \(3,\): ValueError"):
        arrays.linear_function(broken, "A", np.dtype(np.float64))(np.ones(3))
