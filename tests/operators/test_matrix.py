"""Assembled matrices and LinearOperators: accepted types, conversions, and the messages of refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from workbench.devices.cpu import Cpu
from workbench.errors import InputError
from workbench.operators import (
    BandStencil,
    ComplexSymmetricMatrix,
    LinearOperatorAdapter,
    Matrix,
    Operator,
    as_operator,
)

SMALL = np.array([[4.0, -1, 0], [-1, 4, -2], [0, -2, 5]])
HERMITIAN = np.array([[4, 1j, 0], [-1j, 4, -2], [0, -2, 5]])
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def refusal(given, kind=Matrix):
    with pytest.raises(InputError) as caught:
        as_operator(given, kind)
    return str(caught.value)


def changed(*entries, start=SMALL):
    matrix = start.copy()
    for row, column, value in entries:
        matrix[row, column] = value
    return matrix


def product(operator, x):
    out = np.full_like(x, np.nan)
    dots = operator.bind(Cpu()).apply(x, out, "xy", "yy", "xx")
    np.testing.assert_allclose(dots, [np.vdot(x, out), np.vdot(out, out), np.vdot(x, x)], rtol=1e-6)
    return out


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_is_accepted(form, kind):
    operator = as_operator(getattr(sparse, f"{form}_{kind}")(SMALL))
    assert isinstance(operator, Matrix)
    assert isinstance(operator, Operator)
    assert isinstance(operator.to_csr(), sparse.csr_array)
    np.testing.assert_array_equal(operator.to_csr().toarray(), SMALL)
    np.testing.assert_array_equal(operator.diagonal(), [4, 4, 5])
    # Blocks are stored whole, with their zeros.
    assert operator.nnz == (9 if form == "bsr" else 7)
    assert (operator.shape, operator.dtype) == ((3, 3), np.float64)
    np.testing.assert_array_equal(product(operator, np.array([1.0, 2.0, 3.0])), [2, 1, 11])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_dense_array_and_a_numpy_matrix_are_accepted():
    for dense in (SMALL, np.asfortranarray(SMALL), np.asmatrix(SMALL)):
        np.testing.assert_array_equal(as_operator(dense).to_csr().toarray(), SMALL)


def test_an_operator_is_returned_unchanged():
    for operator in (Matrix(sparse.csr_array(SMALL)), BandStencil((2,), np.ones(2), (np.zeros(2),))):
        assert as_operator(operator) is operator


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_working_dtypes_are_kept(dtype):
    start = HERMITIAN if np.dtype(dtype).kind == "c" else SMALL
    for given in (start.astype(dtype), sparse.csr_array(start.astype(dtype))):
        operator = as_operator(given)
        assert operator.dtype == operator.to_csr().dtype == np.dtype(dtype)
        x = np.array([1, 2, 3], dtype)
        np.testing.assert_array_equal(product(operator, x), start @ x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "longdouble"])
def test_other_dtypes_become_double_precision(dtype):
    matrix = np.array([[2, 1], [1, 3]]).astype(dtype)
    for given in (matrix, sparse.csr_array(matrix)):
        operator = as_operator(given)
        assert operator.dtype == np.float64
        np.testing.assert_array_equal(operator.to_csr().toarray(), matrix.astype(float))


@pytest.mark.parametrize("dtype", ["float16", ">f8"])
def test_dtypes_unsupported_by_scipy_become_double_precision(dtype):
    operator = as_operator(SMALL.astype(dtype))
    assert operator.dtype == np.float64
    np.testing.assert_array_equal(operator.to_csr().toarray(), SMALL)


def test_long_double_complex_becomes_double_precision():
    assert as_operator(HERMITIAN.astype(np.clongdouble)).dtype == np.complex128


def test_duplicates_are_summed_and_indices_sorted():
    # Row 0: -1 at column 1, then 1 and 3 at column 0; row 1 in two halves.
    parts = np.array([-1.0, 1, 3, 2, -1, 2]), np.array([1, 0, 0, 1, 0, 1]), np.array([0, 3, 6])
    given = sparse.csr_array(parts, shape=(2, 2))
    operator = as_operator(given)
    np.testing.assert_array_equal(operator.to_csr().toarray(), [[4, -1], [-1, 4]])
    assert operator.nnz == 4
    assert operator.to_csr().has_canonical_format
    places = (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert as_operator(sparse.coo_array((np.ones(4), places))).nnz == 2


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_the_input_is_never_modified(dtype):
    # Unsorted, with duplicates and long indices: all that construction would like to put in order.
    data = np.array([-1, 1, 3, 2, -1, 2]).astype(dtype)
    indices, indptr = np.array([1, 0, 0, 1, 0, 1]), np.array([0, 3, 6])
    given = sparse.csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(2, 2))
    as_operator(given)
    np.testing.assert_array_equal(given.data, data)
    np.testing.assert_array_equal(given.indices, indices)
    np.testing.assert_array_equal(given.indptr, indptr)
    assert given.dtype == dtype


def test_a_canonical_matrix_is_not_copied():
    given = sparse.csr_array(SMALL)
    assert np.shares_memory(as_operator(given).to_csr().data, given.data)


def test_int64_indices_become_int32():
    given = sparse.csr_array(SMALL)
    given = sparse.csr_array((given.data, given.indices.astype(np.int64), given.indptr.astype(np.int64)))
    csr = as_operator(given).to_csr()
    assert csr.indices.dtype == csr.indptr.dtype == np.int32


def test_stored_zeros_count_as_entries():
    given = sparse.csr_array(SMALL)
    given.data[1] = given.data[2] = 0
    assert as_operator(given).nnz == 7


def test_a_hermitian_matrix_is_accepted():
    operator = as_operator(HERMITIAN)
    x = np.array([1j, 2, 3 - 1j])
    np.testing.assert_allclose(product(operator, x), HERMITIAN @ x)


def test_asymmetry_within_rounding_is_accepted():
    as_operator(changed((0, 1, -1 + 4e-12)))
    assert refusal(changed((0, 1, -1 + 6e-12))).startswith("the matrix is not symmetric")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("kind", [Matrix, ComplexSymmetricMatrix])
def test_symmetry_is_judged_by_the_precision_of_the_data(dtype, kind):
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((9, 6)) + (1j * rng.standard_normal((9, 6)) if dtype is np.complex64 else 0)
    left = Y.T if kind is ComplexSymmetricMatrix else Y.conj().T
    gram = (left.astype(dtype) @ (rng.random(9)[:, None] * Y).astype(dtype) + np.eye(6)).astype(dtype)
    gram[0, 1] = np.nextafter(gram[0, 1].real, 9, dtype=gram.real.dtype) + (gram[0, 1] - gram[0, 1].real)
    for given in (gram, sparse.csr_array(gram) if dtype is not np.float16 else gram):
        operator = as_operator(given, kind)
        wide = np.complex128 if dtype is np.complex64 else np.float64
        assert operator.astype(np.dtype(wide)).dtype == wide
    gram[0, 1] *= 1.5
    assert "A.T)/2" in refusal(gram, kind) or "A.conj().T)/2" in refusal(gram, kind)


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.coo_array], ids=["dense", "csr", "coo"])
class TestRefusals:
    def test_not_square(self, wrap):
        assert refusal(wrap(np.ones((2, 3)))) == (
            "the matrix must be square, got 2 x 3; CG needs as many equations as unknowns"
        )

    def test_empty(self, wrap):
        assert refusal(wrap(np.ones((0, 0)))) == "the matrix is empty: shape 0 x 0"
        assert refusal(wrap(np.ones((0, 3)))) == "the matrix is empty: shape 0 x 3"

    def test_one_dimension(self, wrap):
        assert refusal(wrap(np.ones(3))) == "a matrix needs two dimensions, got 1"

    def test_without_entries(self, wrap):
        assert refusal(wrap(np.zeros((3, 3)))) == (
            "the matrix is not positive definite: its diagonal entry 0 is 0, and CG needs every one above 0"
        )

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, wrap, bad):
        assert refusal(wrap(changed((1, 2, bad), (2, 1, bad)))) == (
            f"the matrix holds {bad} at row 1, column 2; entries must be finite"
        )
        assert refusal(wrap(changed((2, 2, bad)))) == (
            f"the matrix holds {bad} at row 2, column 2; entries must be finite"
        )

    def test_not_symmetric(self, wrap):
        found = refusal(wrap(changed((1, 2, -3))))
        assert found in {
            f"the matrix is not symmetric: A[{i}, {j}] and A[{j}, {i}] differ by 1, and rounding explains 5e-12; "
            "CG needs a symmetric positive definite matrix, such as (A + A.T)/2 where the difference is an error"
            for i, j in ((1, 2), (2, 1))
        }

    def test_the_worst_pair_is_named(self, wrap):
        found = refusal(wrap(changed((0, 1, -1.5), (2, 0, 7))))
        assert "A[2, 0]" in found
        assert "A[0, 2]" in found
        assert "differ by 7," in found

    def test_not_hermitian(self, wrap):
        found = refusal(wrap(changed((0, 1, 2j), start=HERMITIAN)))
        assert found.startswith("the matrix is not symmetric: A[")
        assert "differ by 1," in found

    def test_complex_symmetric(self, wrap):
        found = refusal(wrap(changed((0, 1, 0.25j), (1, 0, 0.25j), start=HERMITIAN)))
        assert found in {
            "the matrix is complex symmetric, not Hermitian; CG needs a Hermitian positive definite matrix "
            f"(A[{i}, {j}] differs from conj(A[{j}, {i}]) by 0.5); choose solver cocg or block-cocg"
            for i, j in ((0, 1), (1, 0))
        }

    def test_an_imaginary_part_on_the_diagonal(self, wrap):
        found = refusal(wrap(changed((1, 1, 4 + 1j), start=HERMITIAN)))
        assert "A[1, 1] and A[1, 1] differ by 2," in found

    @pytest.mark.parametrize("value", [0.0, -3.25])
    def test_a_diagonal_that_is_not_positive(self, wrap, value):
        assert refusal(wrap(changed((1, 1, value)))) == (
            f"the matrix is not positive definite: its diagonal entry 1 is {value:g}, and CG needs every one above 0"
        )
        assert refusal(wrap(changed((1, 1, value), start=HERMITIAN))) == (
            f"the matrix is not positive definite: its diagonal entry 1 is {value:g}, and CG needs every one above 0"
        )


@pytest.mark.parametrize("given", [np.array([["a"]]), np.array([[None]]), np.array([["2020-01-01"]], "M8[D]")])
def test_non_numeric_entries_are_refused(given):
    assert refusal(given) == f"A must hold numbers, got dtype {given.dtype}"


@pytest.mark.parametrize(
    ("given", "kind"), [([[1.0]], "list"), ("poisson5", "str"), (None, "NoneType"), (3.0, "float")]
)
def test_other_types_are_refused(given, kind):
    assert refusal(given) == (
        f"cannot use {kind} as A; pass a SciPy sparse array, a LinearOperator or a workbench operator"
    )


def test_three_dimensional_arrays_are_refused():
    assert refusal(np.ones((2, 2, 2))) == "a matrix needs two dimensions, got 3"


# LinearOperator: only its product is known.


@pytest.mark.parametrize("start", [SMALL, HERMITIAN], ids=["real", "complex"])
def test_a_linear_operator_is_accepted(start):
    operator = as_operator(linalg.aslinearoperator(start))
    assert isinstance(operator, LinearOperatorAdapter)
    assert isinstance(operator, Operator)
    assert (operator.shape, operator.dtype, operator.nnz) == ((3, 3), start.dtype, None)
    x = np.array([1, 2, 3], start.dtype)
    np.testing.assert_allclose(product(operator, x), start @ x)


def test_a_linear_operator_from_a_function():
    linear = linalg.LinearOperator((3, 3), matvec=lambda v: SMALL @ v, dtype=np.float32)
    operator = as_operator(linear)
    assert operator.dtype == np.float32
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_allclose(product(operator, x), SMALL @ x)


def test_an_integer_linear_operator_becomes_double_precision():
    operator = as_operator(linalg.aslinearoperator(SMALL.astype(int)))
    assert operator.dtype == np.float64
    x = np.array([0.5, 0.25, 1])
    np.testing.assert_allclose(product(operator, x), SMALL @ x)


def test_entries_of_a_linear_operator_are_not_available():
    operator = as_operator(linalg.aslinearoperator(SMALL))
    with pytest.raises(InputError) as caught:
        operator.diagonal()
    assert str(caught.value) == "the diagonal of a LinearOperator is not available; pass a sparse matrix, or diagonal="
    with pytest.raises(InputError) as caught:
        operator.to_csr()
    assert str(caught.value) == "the entries of a LinearOperator are not available; pass a sparse matrix"


def test_a_linear_operator_must_be_square_and_not_empty():
    assert refusal(linalg.aslinearoperator(np.ones((2, 3)))) == (
        "the matrix must be square, got 2 x 3; CG needs as many equations as unknowns"
    )
    assert refusal(linalg.LinearOperator((0, 0), matvec=lambda v: v, dtype=float)) == "the matrix is empty: shape 0 x 0"
