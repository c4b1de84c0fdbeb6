"""What every operator A of the workbench tells about itself, whatever its storage."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device

DOUBLE = np.dtype(np.float64)


class BoundOperator(Protocol):
    """An operator whose data lie on a device, ready to be applied there."""

    def apply(self, x: Any, out: Any, /) -> Any:
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


@dataclasses.dataclass(frozen=True)
class Size:
    """What is known of an operator before it is assembled: N, and the bytes that a device needs for it at least."""

    unknowns: int
    nbytes: int
    dtype: np.dtype = DOUBLE

    @property
    def shape(self) -> tuple[int, int]:
        return self.unknowns, self.unknowns

    @classmethod
    def of_stencil(cls, grid: tuple[int, ...]) -> Size:
        """Of a `Stencil` in float64, whose diagonal may be one number."""
        unknowns = math.prod(grid)
        return cls(unknowns, 8 * len(grid) * unknowns)

    @classmethod
    def of_rows(cls, unknowns: int, entries: int) -> Size:
        """Of a `Matrix` in float64."""
        return cls(unknowns, (8 + 4) * entries + 4 * unknowns)


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

    def astype(self, dtype: np.dtype) -> Operator:
        """The same operator on vectors of another dtype, one that holds all of its entries."""
        ...

    def bind(self, device: Device) -> BoundOperator:
        """The same operator on a device."""
        ...
