"""Assembled matrices and LinearOperators: accepted types, conversions, and the messages of refusals."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "longdouble", "float16", ">f8", "clongdouble"])
def test_other_dtypes_become_double_precision(dtype):
    matrix = np.array([[2, 1], [1, 3]]).astype(dtype)
    # SciPy has no sparse matrices of some.
    for given in (matrix, sparse.csr_array(matrix) if dtype not in ("float16", ">f8") else matrix):
        operator = as_operator(given)
        assert operator.dtype == (np.complex128 if matrix.dtype.kind == "c" else np.float64)
        np.testing.assert_array_equal(operator.to_csr().toarray(), matrix.astype(operator.dtype))


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


NOT_SQUARE = "the matrix must be square, got 2 x 3; CG needs as many equations as unknowns"
NOT_POSITIVE = "the matrix is not positive definite: its diagonal entry {} is {}, and CG needs every one above 0"
NEGATIVE = "the diagonal of the matrix is negative throughout, down to {}: solve (-A) x = -b, which has the same x"
IN_A_ROW = "0, in a row with other entries"
NOT_FINITE = "the matrix holds {} at row {}, column 2; entries must be finite"
NOT_SYMMETRIC = "the matrix is not symmetric: A[{}, {}] and A[{}, {}] differ by "
REFUSED = [
    (np.ones((2, 3)), NOT_SQUARE),
    (np.ones((0, 0)), "the matrix is empty: shape 0 x 0"),
    (np.ones((0, 3)), "the matrix is empty: shape 0 x 3"),
    (np.ones(3), "a matrix needs two dimensions, got 1"),
    *((-scale * np.eye(3), NEGATIVE.format(f"-{scale:g}")) for scale in (1, 1e-9)),
    *((changed((1, 2, bad), (2, 1, bad)), NOT_FINITE.format(bad, 1)) for bad in (np.nan, np.inf, -np.inf)),
    *((changed((2, 2, bad)), NOT_FINITE.format(bad, 2)) for bad in (np.nan, np.inf, -np.inf)),
    *((changed((1, 1, value)), NOT_POSITIVE.format(1, said)) for value, said in ((0.0, IN_A_ROW), (-3.25, "-3.25"))),
    *(
        (changed((1, 1, value), start=HERMITIAN), NOT_POSITIVE.format(1, said))
        for value, said in ((0.0, IN_A_ROW), (-3.25, "-3.25"))
    ),
    # The worst pair is named.
    (changed((0, 1, -1.5), (2, 0, 7)), NOT_SYMMETRIC.format(2, 0, 0, 2) + "7,"),
    (changed((0, 1, 2j), start=HERMITIAN), NOT_SYMMETRIC.format(0, 1, 1, 0) + "1,"),
    (changed((1, 1, 4 + 1j), start=HERMITIAN), NOT_SYMMETRIC.format(1, 1, 1, 1) + "2,"),
    (
        changed((1, 2, -3)),
        NOT_SYMMETRIC.format(1, 2, 2, 1) + "1, and rounding explains 5e-12; CG needs a symmetric positive definite "
        "matrix, such as (A + A.T)/2 where the difference is an error",
    ),
    (
        changed((0, 1, 0.25j), (1, 0, 0.25j), start=HERMITIAN),
        "the matrix is complex symmetric, not Hermitian; CG needs a Hermitian positive definite matrix "
        "(A[0, 1] differs from conj(A[1, 0]) by 0.5); choose solver cocg or block-cocg",
    ),
]
"""Matrices, and how what is said of them begins; either of two entries may be named first."""


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, sparse.coo_array], ids=["dense", "csr", "coo"])
@pytest.mark.parametrize(("matrix", "sentence"), REFUSED)
def test_matrices_that_cg_cannot_use_are_refused(wrap, matrix, sentence):
    found = refusal(wrap(matrix))
    other = re.sub(r"A\[(\d), (\d)\]", r"A[\2, \1]", sentence)
    assert found.startswith((sentence, other))
    # A sentence that is given whole is all of it.
    assert sentence.endswith(",") or len(found) == len(sentence)


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


# LinearOperator: only its product is known.


@pytest.mark.parametrize(
    ("linear", "dtype"),
    [
        (linalg.aslinearoperator(SMALL), np.float64),
        (linalg.aslinearoperator(HERMITIAN), np.complex128),
        (linalg.aslinearoperator(SMALL.astype(int)), np.float64),
        (linalg.LinearOperator((3, 3), matvec=lambda v: SMALL @ v, dtype=np.float32), np.float32),
    ],
    ids=["real", "complex", "integer", "a function"],
)
def test_a_linear_operator_is_accepted(linear, dtype):
    operator = as_operator(linear)
    assert isinstance(operator, LinearOperatorAdapter)
    assert isinstance(operator, Operator)
    assert (operator.shape, operator.dtype, operator.nnz) == ((3, 3), dtype, None)
    x = np.array([0.5, 0.25, 1], dtype)
    np.testing.assert_allclose(product(operator, x), linear @ x)


def test_entries_of_a_linear_operator_are_not_available():
    operator = as_operator(linalg.aslinearoperator(SMALL))
    with pytest.raises(InputError) as caught:
        operator.diagonal()
    assert str(caught.value) == "the diagonal of a LinearOperator is not available; pass a sparse matrix, or diagonal="
    with pytest.raises(InputError) as caught:
        operator.to_csr()
    assert str(caught.value) == "the entries of a LinearOperator are not available; pass a sparse matrix"


def test_a_linear_operator_must_be_square_and_not_empty():
    assert refusal(linalg.aslinearoperator(np.ones((2, 3)))) == NOT_SQUARE
    assert refusal(linalg.LinearOperator((0, 0), matvec=lambda v: v, dtype=float)) == "the matrix is empty: shape 0 x 0"
