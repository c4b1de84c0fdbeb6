"""LAPACK factorizations that release the GIL.

SciPy's wrappers hold the GIL until they return, which would block every view while a large coarse matrix is factored.
The routines are those of SciPy's LAPACK, called by the addresses that `scipy.linalg.cython_lapack` exports.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from workbench.devices.host.blas import on_one_thread

SMALL = 512
"""Rows of a dense matrix that one core inverts in the time that BLAS needs to start its threads, some milliseconds."""
_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def band_cholesky(band: np.ndarray) -> np.ndarray:
    """Factor a positive definite band matrix in place into its Cholesky factor, lower bands.

    band: shape (w + 1, d) in Fortran order, for half-bandwidth w; entry (i - j, j) is A[i, j].

    Cost: d w^2 flops. Raises LinAlgError if the matrix is not positive definite. Source: LAPACK, xPBTRF.
    """
    width, size = band.shape[0] - 1, band.shape[1]
    _call("pbtrf", band.dtype, b"L", size, width, band, width + 1)
    return band


def band_solver(factor: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function that solves with a factor of `band_cholesky`; it overwrites its argument, shape (d,) or (d, s), in
    Fortran order.

    Cost: 4 d w flops a column. It holds the GIL. Source: LAPACK, xPBTRS.
    """
    from scipy.linalg.lapack import get_lapack_funcs

    (solve,) = get_lapack_funcs(("pbtrs",), (factor,))
    return lambda right: solve(factor, right, lower=1, overwrite_b=1)[0]


def cholesky(matrix: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor of a positive definite dense matrix, (d, d), in Fortran order; the matrix is
    overwritten, and the upper triangle of the result means nothing.

    Cost: d^3/3 flops. Raises LinAlgError if the matrix is not positive definite. Source: LAPACK, xPOTRF.
    """
    # In row-major order a Hermitian matrix is the conjugate of its own in column-major order, and not copied.
    by_rows = matrix.flags.c_contiguous and matrix.dtype.kind != "c"
    factor, size = (matrix.T if by_rows else np.asfortranarray(matrix)), matrix.shape[0]
    with _few_threads(size):
        _call("potrf", matrix.dtype, b"L", size, factor, size)
    return factor


def inverse(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite dense matrix, (d, d), which is overwritten, from its Cholesky factorization.

    Cost: about 2 d^3 flops. Raises LinAlgError if the matrix is not positive definite. Source: LAPACK, xPOTRF, xPOTRS.
    """
    factor, size = cholesky(matrix), matrix.shape[0]
    identity = np.eye(size, dtype=matrix.dtype, order="F")
    with _few_threads(size):
        _call("potrs", matrix.dtype, b"L", size, size, factor, size, identity, size)
    return identity


def _few_threads(size: int) -> AbstractContextManager[Any]:
    """A context for a dense matrix of `size` rows; small ones are left to one thread."""
    return on_one_thread() if size <= SMALL else contextlib.nullcontext()


def _call(name: str, dtype: np.dtype, triangle: bytes, *arguments: int | np.ndarray) -> None:
    """Call a routine by its address through ctypes, which releases the GIL. All integers are C ints."""
    info = ctypes.c_int(0)
    passed: list[Any] = [triangle]
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            assert argument.flags.f_contiguous and argument.dtype == dtype
            passed.append(argument.ctypes.data_as(ctypes.c_void_p))
        else:
            passed.append(ctypes.byref(ctypes.c_int(argument)))
    _routine(_LETTERS[str(dtype)] + name, len(passed) + 1)(*passed, ctypes.byref(info))
    if info.value > 0:
        raise np.linalg.LinAlgError(f"{info.value}-th leading minor not positive definite")
    assert info.value == 0, f"argument {-info.value} of {name} is wrong"


@functools.cache
def _routine(name: str, count: int) -> Callable[..., None]:
    """A LAPACK routine as a function of `count` pointers."""
    capsule = importlib.import_module("scipy.linalg.cython_lapack").__pyx_capi__[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, *[ctypes.c_void_p] * (count - 1))
    return kind(address(capsule, name_of(capsule)))
