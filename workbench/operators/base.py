"""Protocols of operators: A in host memory, and A bound to a device."""

from __future__ import annotations

import dataclasses
import math
from typing import Protocol, runtime_checkable

import numpy as np

from workbench.devices.operator_protocols import DeviceOperator
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse

DOUBLE = np.dtype(np.float64)


BoundOperator = DeviceOperator
"""An operator with its data in device memory."""


class MissingEntriesError(InputError):
    """Entries of an A that is known by its products alone. what: those that are missing, "diagonal" or "entries"."""

    def __init__(self, what: str) -> None:
        self.what = what
        way = "; pass a sparse matrix, or diagonal=" if what == "diagonal" else "; pass a sparse matrix"
        super().__init__(f"the {what} of a LinearOperator {'is' if what == 'diagonal' else 'are'} not available{way}")


@dataclasses.dataclass(frozen=True)
class Size:
    """The size of an operator before assembly: N, and a lower bound of its bytes in device memory.

    grid: cells per side of a stencil, None for other operators. two_phases: entries come from a byte per cell.
    constant_diagonal: D is one number.

    Examples:
        >>> from workbench.operators import Size
        >>> Size.of_stencil((64, 64)).unknowns
        4096
    """

    unknowns: int
    nbytes: int
    dtype: np.dtype = DOUBLE
    grid: tuple[int, ...] | None = None
    two_phases: bool = False
    constant_diagonal: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.unknowns, self.unknowns

    @classmethod
    def of_stencil(cls, grid: tuple[int, ...], *, constant_diagonal: bool = False) -> Size:
        """The size of a `BandStencil` in float64. The diagonal is not counted, since it may be constant."""
        unknowns = math.prod(grid)
        return cls(unknowns, 8 * len(grid) * unknowns, grid=grid, constant_diagonal=constant_diagonal)

    @classmethod
    def of_two_phases(cls, grid: tuple[int, ...]) -> Size:
        """The size of a `TwoPhaseStencil`."""
        unknowns = math.prod(grid)
        return cls(unknowns, unknowns, grid=grid, two_phases=True)

    @classmethod
    def of_rows(cls, unknowns: int, entries: int, *, constant_diagonal: bool = False) -> Size:
        """The size of a `Matrix` in float64."""
        return cls(unknowns, (8 + 4) * entries + 4 * unknowns, constant_diagonal=constant_diagonal)

    def stored(self, form: str) -> int:
        """Bytes of the assembled matrix in a format of `host.storage`, estimated for a stencil, whose rows are of one
        length but for those at walls; of other operators those of CSR, a lower bound."""
        if self.grid is None:
            return self.nbytes
        width, n = 2 * len(self.grid) + 1, self.unknowns
        entries = width * n - sum(2 * n // side for side in self.grid)
        return {"coo": 16 * entries, "csr": 12 * entries + 4 * n, "dia": 8 * width * n}.get(form, 12 * width * n)


def stored_bytes(operator: object) -> int:
    """Bytes of an operator in device memory; 0 if unknown.

    Examples:
        >>> import numpy as np
        >>> from workbench.operators import as_operator, stored_bytes
        >>> stored_bytes(as_operator(np.diag([1.0, 2.0, 4.0])))
        52
    """
    return getattr(operator, "nbytes", 0)


@runtime_checkable
class Operator(Protocol):
    """A square Hermitian operator in host memory.

    Examples:
        >>> import numpy as np
        >>> from workbench.operators import Operator, as_operator
        >>> A = as_operator(np.diag([1.0, 2.0, 4.0]))
        >>> isinstance(A, Operator), A.shape, A.nnz, A.diagonal().tolist()
        (True, (3, 3), 3, [1.0, 2.0, 4.0])
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """float32, float64, complex64 or complex128."""
        ...

    @property
    def nnz(self) -> int | None:
        """Entries of the assembled matrix, both triangles; None if unknown."""
        ...

    def diagonal(self) -> np.ndarray:
        """The diagonal, shape (N,). Raises MissingEntriesError if it is not available."""
        ...

    def to_csr(self) -> sparse.csr_array:
        """The assembled matrix (12 nnz + 4 N bytes). Raises MissingEntriesError if the entries are not available."""
        ...

    def astype(self, dtype: np.dtype) -> Operator:
        """This operator on vectors of another dtype, which must represent all of its entries."""
        ...

    def bind(self, device: Device) -> BoundOperator:
        """Copy the operator to a device."""
        ...
