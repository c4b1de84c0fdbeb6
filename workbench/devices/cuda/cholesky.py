"""Cholesky factors by cuSOLVER, on the stream of a runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.accelerator.runtime import Handle

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_INFO: dict[int, Any] = {}
"""Room for cuSOLVER's report of a solve, by device: a recorded graph repeats a solve, and must not allocate."""


class _Library(Protocol):
    """A CUDA runtime as far as libraries need it, a `runtime.Cuda`."""

    number: int

    @property
    def own_stream(self) -> Any:
        """The stream of all work, as CuPy has it."""
        ...

    def enqueue(self, work: Callable[[int], None]) -> None:
        """Let the library enqueue work in the stream whose address it gets."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """A context in which no other thread uses the device."""
        ...

    def copy(self, target: Handle, source: Handle, nbytes: int) -> None:
        """Copy on the device."""
        ...


def solve(runtime: _Library, factor: Handle, right: Handle, size: int, dtype: np.dtype) -> None:
    """right = (L L^H)^-1 right in place and double precision, by potrs. factor: L, (size, size), by columns."""
    import cupy  # pyright: ignore[reportMissingImports]
    from cupy_backends.cuda.libs import cublas, cusolver  # pyright: ignore[reportMissingImports]

    def potrs(stream: int) -> None:
        if runtime.number not in _INFO:
            _INFO[runtime.number] = cupy.zeros(1, np.int32)
        handle = cupy.cuda.device.get_cusolver_handle()
        cusolver.setStream(handle, stream)
        made = cusolver.zpotrs if dtype.kind == "c" else cusolver.dpotrs
        matrix, vector = (factor.data.ptr, size), (right.data.ptr, size)
        made(handle, cublas.CUBLAS_FILL_MODE_LOWER, size, 1, *matrix, *vector, _INFO[runtime.number].data.ptr)

    runtime.enqueue(potrs)


def inverse(runtime: _Library, matrix: Handle, made: Handle, size: int) -> bool:
    """The inverse of a symmetric matrix, double precision, by potrf and potrs; False where it is not positive definite.

    The matrix is overwritten; waits for the device.
    """
    import cupy  # pyright: ignore[reportMissingImports]
    from cupy_backends.cuda.libs import cublas, cusolver  # pyright: ignore[reportMissingImports]

    lower = cublas.CUBLAS_FILL_MODE_LOWER
    with runtime.alone(), runtime.own_stream as stream:
        handle = cupy.cuda.device.get_cusolver_handle()
        cusolver.setStream(handle, stream.ptr)
        info, unit = cupy.zeros(1, np.int32), cupy.eye(size)
        factor = matrix.data.ptr, size
        work = cupy.empty(room := cusolver.dpotrf_bufferSize(handle, lower, size, *factor))
        cusolver.dpotrf(handle, lower, size, *factor, work.data.ptr, room, info.data.ptr)
        if int(info[0]):
            return False
        runtime.copy(made, unit, unit.nbytes)
        cusolver.dpotrs(handle, lower, size, size, *factor, made.data.ptr, size, info.data.ptr)
    return True
