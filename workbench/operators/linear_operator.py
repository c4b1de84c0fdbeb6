"""A known by its products alone: SciPy LinearOperators as operators."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays.validation import HostFunction, check_real, finite_vector, matvec_function, working_dtype
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import BoundOperator, MissingEntriesError
from workbench.operators.matrix import ComplexSymmetricMatrix, Matrix, precision_in
from workbench.operators.matrix_checks import check_positive, check_shape

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


@dataclasses.dataclass(frozen=True, eq=False)
class LinearOperatorAdapter:
    """A SciPy LinearOperator as A. What needs entries of A refuses it.

    vector_dtype: the dtype of the vectors, if it differs from that of the operator. main: its main diagonal, shape
    (N,), if it is known.

    Examples:
        >>> import numpy as np
        >>> from scipy.sparse.linalg import LinearOperator
        >>> from workbench.operators import LinearOperatorAdapter
        >>> LinearOperatorAdapter(LinearOperator((3, 3), lambda x: 2 * x, dtype=np.float64)).nnz is None
        True
    """

    linear: LinearOperator
    vector_dtype: np.dtype | None = None
    main: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_shape(self.linear.shape)
        working_dtype(np.dtype(self.linear.dtype), "A")
        if self.main is not None:
            main = finite_vector(self.main, "diagonal", self.shape[0])
            check_real(main.dtype, self.dtype, "diagonal")
            object.__setattr__(self, "main", main)

    @property
    def shape(self) -> tuple[int, int]:
        return self.linear.shape

    @property
    def dtype(self) -> np.dtype:
        return self.vector_dtype or working_dtype(np.dtype(self.linear.dtype), "A")

    @property
    def precision(self) -> np.dtype:
        """The dtype in which A is declared."""
        return precision_in(np.dtype(self.linear.dtype))

    @property
    def function(self) -> HostFunction:
        """A on vectors of this dtype, with checks of the returned ones."""
        return matvec_function(self.linear, "A", self.dtype)

    @property
    def nnz(self) -> None:
        return None

    def diagonal(self) -> np.ndarray:
        if self.main is None:
            raise MissingEntriesError("diagonal")
        return self.main.astype(self.dtype, copy=False)

    def to_csr(self) -> sparse.csr_array:
        raise MissingEntriesError("entries")

    def astype(self, dtype: np.dtype) -> LinearOperatorAdapter:
        return dataclasses.replace(self, vector_dtype=dtype)

    def with_diagonal(self, main: np.ndarray, kind: type[Matrix] = Matrix) -> LinearOperatorAdapter:
        """This operator with its main diagonal, finite, shape (N,).

        kind: the class of matrices whose diagonal it has to be: real and above 0, or for COCG not 0, but for rows of
        zeros.

        Cost: up to five products, which compare it with A where it is smallest and largest and in two random places,
        and A with zero where it is 0. Raises InputError for another diagonal.
        """
        main = finite_vector(main, "diagonal", self.shape[0])
        sizes = np.abs(main)
        product = matvec_function(self.linear, "A", self.dtype)
        eps = np.finfo(self.dtype).eps
        # A product by transforms rounds every entry as it does the largest.
        rounding = 100 * eps * sizes.max()
        zeros = np.flatnonzero(main == 0)
        if zeros.size:
            some = np.zeros(main.size, self.dtype)
            some[zeros] = np.random.default_rng(0).uniform(1, 2, zeros.size)
            zeros = zeros if np.abs(product(some)).max() <= rounding * np.sqrt(zeros.size) else zeros[:0]
        if issubclass(kind, ComplexSymmetricMatrix) and self.dtype.kind == "c":
            check_positive(sizes, zeros)
        elif np.any(np.imag(main)):
            raise InputError("diagonal is complex, but the main diagonal of a Hermitian A is real; pass real values")
        else:
            main = np.real(main)
            check_positive(main, zeros)
        places = [sizes.argmin(), sizes.argmax(), *np.random.default_rng(0).integers(main.size, size=2)]
        for i in sorted(set(map(int, places))):
            unit = np.zeros(main.size, self.dtype)
            unit[i] = 1
            entry = product(unit)[i]
            if not abs(entry - main[i]) <= np.sqrt(eps) * sizes[i] + rounding:
                raise InputError(
                    f"diagonal holds {main[i]:.6g} at entry {i}, but A has {entry:.6g} there, by what it makes of a "
                    "unit vector; pass the main diagonal of A itself, and another scaling as M, a function"
                )
        return dataclasses.replace(self, main=main)

    def plus_diagonal(self, rows: np.ndarray, values: np.ndarray, main: np.ndarray) -> LinearOperatorAdapter:
        """A plus values on the diagonal of some rows. main: the diagonal of the sum, shape (N,)."""
        from scipy.sparse import linalg

        added = linalg.aslinearoperator(sparse.csr_array((values, (rows, rows)), shape=self.shape))
        return dataclasses.replace(self, linear=self.linear + added, main=main)

    def bind(self, device: Device) -> BoundOperator:
        return device.callable(self.function, self.shape[0], self.dtype)
