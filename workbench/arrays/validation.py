"""Validation of arrays and functions from outside: numeric, finite, of the right shape, never cast with a loss.

Every in-memory input (A, b, x0, M, Z) passes through here, so that a wrong value raises one sentence that names the
argument, and no input array is modified.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from workbench.arrays.scaling import dot
from workbench.errors import InputError, quoted
from workbench.lazy import sparse

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    T = TypeVar("T")

DTYPES = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))
"""The working precisions."""


def random_numbers(seed: int | list[int], size: int, first: int = 0) -> np.ndarray:
    """Numbers `first` to first + size - 1 of the stream of a seed, uniform in [0, 1), float64. Cost: those alone."""
    stream = np.random.PCG64(seed)
    return np.random.Generator(stream.advance(first) if first else stream).random(size)


@dataclasses.dataclass(frozen=True)
class Drawn:
    """The vector of these `random_numbers`, made where it is needed: in host memory by `array`, else on a device.

    centred: less their mean.
    """

    seed: int | list[int]
    size: int
    first: int = 0
    centred: bool = False
    ndim: ClassVar[int] = 1

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    def array(self) -> np.ndarray:
        """The numbers, read-only."""
        made = random_numbers(self.seed, self.size, self.first)
        if self.centred:
            made -= made.mean()
        made.flags.writeable = False
        return made


def working_dtype(dtype: np.dtype, name: str) -> np.dtype:
    """The working precision for values of a dtype. Raises InputError for a non-numeric dtype."""
    native = dtype.newbyteorder("=")
    if native in DTYPES:
        return native
    if dtype.kind not in "biufc":
        raise InputError(f"{name} must hold numbers, got dtype {dtype}")
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def to_working_dtype(values: np.ndarray, name: str) -> np.ndarray:
    """Convert to a working precision without loss; no copy if the array already has one.

    Raises InputError for values that double precision cannot represent, such as large int64 and long double.
    """
    dtype = working_dtype(values.dtype, name)
    may_lose = values.dtype.itemsize > dtype.itemsize or (values.dtype.kind in "iu" and values.dtype.itemsize == 8)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = values.astype(dtype, copy=False)
        equal_nan = values.dtype.kind in "fc"
        lost = may_lose and not np.array_equal(converted.astype(values.dtype), values, equal_nan=equal_nan)
    if lost:
        raise InputError(
            f"{name} is {values.dtype} with digits that double precision does not hold; "
            f"round it yourself: {name}.astype(np.{dtype.name})"
        )
    return converted


def finite_array(array_like: object, name: str) -> np.ndarray:
    """An array of finite numbers, of any shape; no copy if the input is one in a working precision.

    Integers and half precision become float64. Raises InputError for masked, sparse, ragged and non-numeric input, for
    NaN and infinity, and for values that double precision cannot represent.
    """
    if not isinstance(array_like, np.ndarray) and sparse.issparse(array_like):
        raise InputError(f"{name} is sparse; pass {name}.toarray()")
    if isinstance(array_like, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array; fill the masked entries: {name}.filled(value)")
    try:
        values = np.asarray(array_like)
    # Ragged lists raise ValueError; device arrays raise an error of their library.
    except Exception as error:
        raise InputError(f"{name} is not an array of numbers: {error}") from None
    values = to_working_dtype(values, name)
    if _square_is_finite(values):
        return values
    finite = np.isfinite(values)
    if not finite.all():
        place = np.unravel_index(int(np.flatnonzero(~finite)[0]), values.shape)
        where = ", ".join(str(int(index)) for index in place)
        raise InputError(f"{name} holds {values[place]} at entry {where}; entries must be finite")
    return values


def _square_is_finite(values: np.ndarray) -> bool:
    """True if the sum of squares, and with it every entry, is finite. Cost: a single read, without a store."""
    if values.ndim != 1 or values.dtype.kind == "c" or not values.flags.c_contiguous:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(dot(values, values).real)


def finite_vector(array_like: object, name: str, size: int) -> np.ndarray:
    """A vector of finite numbers, shape (N,), from shape (N,) or (N, 1).

    Raises InputError as `finite_array` does, and for any other shape.
    """
    values = finite_array(array_like, name)
    check_size(values.shape, name, size)
    return values.reshape(size)


def check_size(shape: tuple[int, ...], name: str, size: int) -> None:
    """Raise InputError for a shape other than that of a vector of N = `size` entries."""
    if shape not in ((size,), (size, 1)):
        raise InputError(f"{name} has shape {shape}, but the matrix has {size} rows; pass shape ({size},)")


def finite_block(array_like: Any, name: str, size: int) -> np.ndarray:
    """A matrix of finite numbers, shape (N, s), dense or sparse. Raises InputError as `finite_vector` does."""
    values = finite_array(array_like.toarray() if sparse.issparse(array_like) else array_like, name)
    if values.ndim != 2 or values.shape[0] != size or not values.shape[1]:
        raise InputError(
            f"{name} has shape {values.shape}, but the matrix has {size} rows; pass shape ({size}, s), a column for "
            "each right-hand side"
        )
    return values


def cast(values: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Convert to the dtype of a system, contiguous. Raises InputError for complex values of a real system."""
    check_real(values.dtype, dtype, name)
    return np.ascontiguousarray(values, dtype)


def check_real(given: np.dtype, dtype: np.dtype, name: str) -> None:
    """Raise InputError for complex values of a real system."""
    if given.kind == "c" and dtype.kind != "c":
        raise InputError(
            f"{name} is complex, but the system is {dtype}; pass real and imaginary part separately, or a complex A"
        )


def own(values: T) -> T:
    """A copy of a user's array, dense or sparse, or list, for what outlives the call; anything else as it is."""
    is_array = isinstance(values, np.ndarray | list) or sparse.issparse(values)
    return copy.deepcopy(values) if is_array else values


def read_only(values: Any) -> Any:
    """A view of an array of NumPy that cannot be written to, for strangers; anything else as it is."""
    if not isinstance(values, np.ndarray):
        return values
    seen = values.view()
    seen.flags.writeable = False
    return seen


def common_dtype(dtype: np.dtype, *vectors: np.ndarray) -> np.dtype:
    """The smallest dtype that holds A and these vectors, by NumPy's promotion rules."""
    return np.result_type(dtype, *(values.dtype for values in vectors))


@dataclasses.dataclass(frozen=True)
class HostFunction:
    """A user's function from a vector, shape (N,), to a vector, with its return value checked.

    The function receives a copy, so it may modify or keep its argument. It may return the same buffer at every call:
    use the value before the next call.

    name: of the function in messages, such as "A". dtype: of the system. declared: that of the function, None if it
    declares none; a real one is applied to the real and the imaginary part of a complex vector in turn.

    Cost in addition to the function: one copy of the vector.
    """

    name: str
    function: Callable[[np.ndarray], object]
    size: int
    dtype: np.dtype
    declared: np.dtype | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value, shape (N,). Raises InputError if it is not a vector of this system."""
        if self._is_real and self.dtype.kind == "c":
            # Copied, because both values may share one buffer.
            real, imaginary = (
                np.array(self._checked(self.function(np.array(part)))) for part in (np.real(x), np.imag(x))
            )
            return real + 1j * imaginary
        return self._checked(self.function(x.copy()))

    def _checked(self, returned: object) -> np.ndarray:
        try:
            values = np.asarray(returned)
        # Ragged lists and device arrays.
        except Exception:
            values = None
        if values is None or values.dtype.kind not in "biufc" or values.shape not in ((self.size,), (self.size, 1)):
            what = f"shape {values.shape}" if values is not None and values.dtype.kind in "biufc" else quoted(returned)
            raise InputError(f"{self.name} must return a vector of shape ({self.size},), but it returned {what}")
        if values.dtype.kind == "c" and self._is_real:
            raise InputError(
                f"{self.name} declares {self.declared}, but returned {values.dtype}; declare it as complex128, or "
                "return real values"
            )
        if values.dtype.kind == "c" and self.dtype.kind != "c":
            raise InputError(
                f"{self.name} returned {values.dtype} for a system that is {self.dtype}; return real values, or "
                "declare A as complex128"
            )
        return values.reshape(self.size)

    @property
    def _is_real(self) -> bool:
        return self.declared is not None and self.declared.kind != "c"


def matvec_function(linear: LinearOperator, name: str, dtype: np.dtype) -> HostFunction:
    """The matrix-vector product of a SciPy LinearOperator, (N, N), as a checked function on vectors of a dtype."""

    def matvec(x: np.ndarray) -> object:
        try:
            return linear.matvec(x)
        # SciPy's own checks of the returned value, and errors inside the user's matvec.
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{name}, a LinearOperator, failed on a vector of shape {x.shape}: {type(error).__name__}: {error}"
            ) from error

    declared = np.dtype(linear.dtype) if linear.dtype is not None else None
    return HostFunction(name, matvec, linear.shape[0], dtype, declared)


class RandomProducts(NamedTuple):
    """f(x) and f(y) for two random vectors, and (f(x), y) and (x, f(y)), which are equal for a symmetric f.

    curvatures: the real parts of (x, f(x)) and (y, f(y)).
    """

    of_x: np.ndarray
    of_y: np.ndarray
    left: complex
    right: complex
    largest: float
    """A bound of both."""
    curvatures: tuple[float, float]

    @property
    def are_symmetric(self) -> bool:
        """True if both agree to half of the digits."""
        return bool(abs(self.left - self.right) <= self._rounding)

    @property
    def are_negative(self) -> bool:
        """True if both curvatures are below 0, by more than half of the digits."""
        return max(self.curvatures) < -self._rounding

    @property
    def _rounding(self) -> float:
        return float(np.sqrt(np.finfo(self.of_x.dtype).eps) * self.largest)


def random_products(function: HostFunction, *, bilinear: bool = False) -> RandomProducts:
    """Products of a function with two random vectors, the same in every call. bilinear: x^T y in place of x^H y.

    Raises InputError if they are not finite. Cost: two calls of the function.
    """
    rng, dtype = np.random.default_rng(0), function.dtype
    x, y = (rng.standard_normal(function.size).astype(dtype) for _ in range(2))
    if dtype.kind == "c":
        x, y = (vector + 1j * rng.standard_normal(function.size).astype(dtype) for vector in (x, y))
    # The function may return the same buffer each time.
    of_x, of_y = (np.array(function(vector), dtype) for vector in (x, y))
    bad = np.flatnonzero(~np.isfinite(of_x + of_y))
    if bad.size:
        raise InputError(
            f"{function.name} returned {(of_x + of_y)[bad[0]]} at entry {bad[0]} for a random vector; "
            "entries must be finite"
        )
    product = np.dot if bilinear else np.vdot
    largest = np.linalg.norm(of_x) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(of_y)
    curvatures = float(np.vdot(x, of_x).real), float(np.vdot(y, of_y).real)
    return RandomProducts(of_x, of_y, product(of_x, y).item(), product(x, of_y).item(), float(largest), curvatures)
