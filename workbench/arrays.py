"""Arrays and functions from outside, checked once: numbers, finite, of the right shape, and never cast with a loss.

Whatever a caller holds in memory (A, b, x0, M, Z) comes in through here, so that a wrong value is one sentence that
names the argument, and so that nothing the caller holds is written to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from workbench.errors import InputError, quoted

DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
"""The precisions in which the workbench computes."""


def working(dtype: np.dtype, name: str) -> np.dtype:
    """The precision in which values of a dtype are computed with. Raises InputError for what are no numbers."""
    native = dtype.newbyteorder("=")
    if native in DTYPES:
        return native
    if dtype.kind not in "biufc":
        raise InputError(f"{name} must hold numbers, got dtype {dtype}")
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def exact(values: np.ndarray, name: str) -> np.ndarray:
    """The same numbers in a precision that the workbench computes in; the same memory where they are in one.

    Raises InputError where double precision does not hold them, as with long whole numbers and long doubles.
    """
    dtype = working(values.dtype, name)
    may_lose = values.dtype.itemsize > dtype.itemsize or (values.dtype.kind in "iu" and values.dtype.itemsize == 8)
    with np.errstate(invalid="ignore", over="ignore"):
        made = values.astype(dtype, copy=False)
        lost = may_lose and not np.array_equal(made.astype(values.dtype), values, equal_nan=values.dtype.kind in "fc")
    if lost:
        raise InputError(
            f"{name} is {values.dtype} with digits that double precision does not hold; "
            f"round it yourself: {name}.astype(np.{dtype.name})"
        )
    return made


def numbers(given: Any, name: str) -> np.ndarray:
    """`given` as an array of finite numbers, of any shape; the caller's own memory where it is an array of them.

    Whole numbers and half precision become float64. Raises InputError for masked and sparse arrays, for what is no
    array of numbers, for NaN and infinity, and for values that double precision does not hold.
    """
    if sparse.issparse(given):
        raise InputError(f"{name} is sparse; pass {name}.toarray()")
    if isinstance(given, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; fill the masked entries: {name}.filled(value)")
    try:
        values = np.asarray(given)
    # Ragged lists raise ValueError; what lies on a device raises an error of its own library's.
    except Exception as error:
        raise InputError(f"{name} is no array of numbers: {error}") from None
    values = exact(values, name)
    finite = np.isfinite(values)
    if not finite.all():
        place = np.unravel_index(int(np.flatnonzero(~finite)[0]), values.shape)
        where = ", ".join(str(int(index)) for index in place)
        raise InputError(f"{name} holds {values[place]} at entry {where}; entries must be finite")
    return values


def vector(given: Any, name: str, size: int) -> np.ndarray:
    """`given` as a vector of finite numbers, shape (N,); a single column of shape (N, 1) is one too.

    Raises InputError as `numbers` does, and for any other shape.
    """
    values = numbers(given, name)
    if values.shape not in ((size,), (size, 1)):
        raise InputError(f"{name} has shape {values.shape}, but the matrix has {size} rows; give shape ({size},)")
    return values.reshape(size)


def cast(values: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """The values in the precision of a system. Raises InputError where that would drop an imaginary part."""
    if values.dtype.kind == "c" and dtype.kind != "c":
        raise InputError(f"{name} is complex, but the system is {dtype}; give a complex right-hand side, or its parts")
    return np.ascontiguousarray(values, dtype)


def common(dtype: np.dtype, *others: np.ndarray) -> np.dtype:
    """The precision that holds A and all of these vectors, as NumPy's rules of promotion have it."""
    return np.result_type(dtype, *(values.dtype for values in others))


@dataclasses.dataclass(frozen=True)
class HostFunction:
    """A caller's function that maps a vector, shape (N,), to another one.

    It is handed a copy, so that it may work in place or keep what it gets. What it returns is checked, and may be one
    buffer that it fills again and again: take it before the next call.

    name: in sentences, such as "A". dtype: of the system. split: the function is a real linear map, so that a complex
    vector goes through it as two real ones. Cost besides the function: a copy of the vector.
    """

    name: str
    function: Callable[[np.ndarray], Any]
    size: int
    dtype: np.dtype
    split: bool = False

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The function's value, shape (N,). Raises InputError where that is no vector of this system."""
        if self.split:
            # Copied, since both may come in one buffer.
            real, imaginary = (
                np.array(self._checked(self.function(np.array(part)))) for part in (np.real(x), np.imag(x))
            )
            return real + 1j * imaginary
        return self._checked(self.function(x.copy()))

    def _checked(self, given: Any) -> np.ndarray:
        try:
            values = np.asarray(given)
        # Ragged lists, and what lies on a device.
        except Exception:
            values = None
        if values is None or values.dtype.kind not in "biufc" or values.shape not in ((self.size,), (self.size, 1)):
            what = f"shape {values.shape}" if values is not None and values.dtype.kind in "biufc" else quoted(given)
            raise InputError(f"{self.name} must return a vector of shape ({self.size},), but it returned {what}")
        if values.dtype.kind == "c" and (self.split or self.dtype.kind != "c"):
            raise InputError(
                f"{self.name} returned {values.dtype} for a system that is {self.dtype}; return real values, or "
                "declare A as complex128"
            )
        return values.reshape(self.size)


def linear_function(linear: Any, name: str, dtype: np.dtype) -> HostFunction:
    """The product of a SciPy LinearOperator, (N, N), as a function on vectors of a dtype."""

    def product(x: np.ndarray) -> Any:
        try:
            return linear.matvec(x)
        # SciPy's own checks of what a matvec returns, and mistakes within it.
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{name}, a LinearOperator, failed on a vector of shape {x.shape}: {type(error).__name__}: {error}"
            ) from error

    declared = np.dtype(linear.dtype) if linear.dtype is not None else None
    split = dtype.kind == "c" and declared is not None and declared.kind != "c"
    return HostFunction(name, product, linear.shape[0], dtype, split)
