"""What every operator A of the workbench tells about itself, whatever its storage."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))


class BoundOperator(Protocol):
    """An operator whose data lie on a device, ready to be applied there."""

    def apply(self, x: Any, out: Any) -> Any:
        """out = A x. Returns the dot products (x, out), (out, out) and (x, x), which come free in the same pass.

        They lie on the device, shape (3,), and the next application overwrites them.
        """
        ...

    @property
    def traffic(self) -> int:
        """Bytes that one application reads and writes, each array counted once."""
        ...

    @property
    def flops(self) -> int:
        """Floating-point operations of one application (real ones; a complex product counts six)."""
        ...


def stored_bytes(operator: Any) -> int:
    """Bytes that a device needs for an operator, 0 for one that does not tell."""
    return getattr(operator, "nbytes", 0)


@runtime_checkable
class Operator(Protocol):
    """A square Hermitian operator in host memory."""

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
        """Entries of the assembled matrix, both triangles; None where they are unknown."""
        ...

    def diagonal(self) -> np.ndarray:
        """The diagonal, shape (N,). Raises InputError where it cannot be known."""
        ...

    def to_csr(self) -> sparse.csr_array:
        """The assembled matrix (12 nnz + 4 N bytes). Raises InputError where it cannot be known."""
        ...

    def bind(self, device: Any) -> BoundOperator:
        """The same operator on a device."""
        ...
