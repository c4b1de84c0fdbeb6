"""Operators from the arrays and objects that callers pass as A, and in the format that a device is to store."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.arrays.validation import to_working_dtype
from workbench.devices.host.storage import check_room, stored
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import MissingEntriesError, Operator
from workbench.operators.linear_operator import LinearOperatorAdapter
from workbench.operators.matrix import LARGE, Matrix, precision_in
from workbench.operators.matrix_checks import check_indices, check_shape
from workbench.settings import GIVEN_FORM, format_of


def as_operator(A: Any, kind: type[Matrix] = Matrix, checked_on: Device | None = None) -> Operator:
    """Convert a SciPy sparse array or matrix, a dense square array, a SciPy LinearOperator, or what has a shape and
    `matvec` as that has, to an Operator.

    kind: the class of matrices. An Operator is returned unchanged. Integer, boolean and half-precision entries become
    float64. checked_on: as in `Matrix`.

    Raises InputError for any other type, for entries that double precision cannot represent, for sparse arrays with
    indices out of range, and for whatever `Matrix` refuses.

    Examples:
        >>> import numpy as np
        >>> from workbench.operators import as_operator
        >>> as_operator(np.diag([1, 2, 4])).dtype.name
        'float64'
    """
    if sparse.issparse(A):
        check_shape(A.shape)
        # Those of a large CSR matrix are in the pass over its entries; longer ones would lose bits before it.
        in_pass = A.format == "csr" and A.nnz >= LARGE and kind.is_mirrored and A.indices.dtype == np.int32
        check_indices(A, full=not in_pass)
        return kind(sparse.csr_array(A), checked_on=checked_on)
    if isinstance(A, Operator):
        return A
    from scipy.sparse import linalg

    if isinstance(A, linalg.LinearOperator):
        return LinearOperatorAdapter(A)
    if isinstance(A, np.ma.MaskedArray):
        raise InputError("A is a masked array; fill the masked entries: A.filled(value)")
    if isinstance(A, np.ndarray):
        check_shape(A.shape)
        return kind(sparse.csr_array(to_working_dtype(A, "A")), precision_in(A.dtype))
    if hasattr(A, "shape") and hasattr(A, "matvec"):
        return LinearOperatorAdapter(linalg.aslinearoperator(A))
    raise InputError(
        f"cannot use {type(A).__name__} as A; pass a SciPy sparse array, a LinearOperator or a workbench operator"
    )


def in_format(operator: Operator, text: str, device: Device) -> Operator:
    """The operator as a device is to store it, assembled where it is none of CSR; itself for format problem.

    text: a checked value of the setting `format`. Raises InputError for an operator without entries, and for a format
    whose words do not fit the machine.
    """
    if text == GIVEN_FORM:
        return operator
    name, items = format_of(text)
    if not isinstance(operator, Matrix):
        try:
            operator = Matrix(operator.to_csr())
        except MissingEntriesError:
            raise InputError(
                f"format {text} stores the entries of A, which a LinearOperator does not show; pass a sparse matrix, "
                "or leave out the format",
                changes={"format": GIVEN_FORM},
            ) from None
    if name != "csr":
        check_room(device, "A", stored(name, operator.csr), operator.csr, name, {"format": "csr"})
    return operator.in_format(name, items)
