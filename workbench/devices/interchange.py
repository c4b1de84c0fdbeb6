"""Arrays of other libraries (CuPy, PyTorch, JAX), exchanged by DLPack: arguments are read in their memory, and results
are returned in the same library and kind of memory.

In host memory no entry is copied. A vector in the memory of a CUDA device stays there for a run on that device;
otherwise CuPy copies it to the host.

Source: the DLPack protocol, `__dlpack__` and `__dlpack_device__` (Python array API standard, 2022).
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.arrays.validation import DTYPES, cast, check_real, check_size, finite_vector
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

HOST, CUDA = (1, 3), (2, 13)
"""Kinds of memory in DLPack: of the host, page-locked or not; of a CUDA device, managed or not."""
ALIGNED = 32
"""Alignment in bytes of vectors that kernels read in place, since kernels read several numbers at once."""
Read = TypeVar("Read")
INSTALL = 'pip install "cupy-cuda13x[ctk]"'


def is_foreign(array: object) -> bool:
    """True for an array of another library than NumPy that DLPack can read."""
    return hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__") and not isinstance(array, np.ndarray)


def on_host(array: Any, name: str) -> Any:
    """An array of another library as a NumPy array, a sparse matrix of CuPy or PyTorch as one of SciPy.

    Other objects are returned as they are.

    name: of the argument, for errors. Cost: nothing in host memory, a copy from a CUDA device. Raises InputError for
    memory that cannot be read.
    """
    if isinstance(array, UserVector):
        return np.asarray(array)
    if type(array).__module__.startswith("cupyx.") and hasattr(array, "get"):
        return array.get()
    if str(getattr(array, "layout", "")) == "torch.sparse_csr":
        parts = (on_host(part, name) for part in (array.values(), array.col_indices(), array.crow_indices()))
        return sparse.csr_array(tuple(parts), shape=tuple(array.shape))
    if not is_foreign(array):
        return array
    if _place(array, name)[0] in CUDA:
        return _cupy(name).asnumpy(_on_cuda(array, name))
    return _read(np.from_dlpack, array, name)


def in_place(array: object, name: str) -> Any:
    """b or x0: a `UserVector` where it is a vector in CUDA memory, in a working precision, else as `on_host` has it."""
    if not is_foreign(array) or _place(array, name)[0] not in CUDA:
        return on_host(array, name)
    vector = _on_cuda(array, name)
    if vector.ndim != 1 or np.dtype(vector.dtype) not in DTYPES:
        return on_host(array, name)
    # Kernels read several numbers at once.
    vector = vector.copy() if vector.data.ptr % ALIGNED else vector
    return UserVector(vector, f"cuda:{vector.device.id}" if vector.device.id else "cuda")


def vector_for(device: Device, values: Any, name: str, size: int, dtype: np.dtype) -> Any:
    """A user's vector for kernels of a system: shape (N,), contiguous, of its dtype. A `UserVector` that lies on the
    device stays there; any other is in host memory, with finite entries.

    Raises InputError for another shape, for complex values of a real system, and as `arrays.finite_array` does.
    """
    if not device.holds(values):
        return cast(finite_vector(values, name, size), dtype, name)
    check_size(values.shape, name, size)
    check_real(values.dtype, dtype, name)
    return values.astype(dtype, copy=False)


def array_of(vector: Vector) -> Any:
    """A device vector as a CuPy array in the same memory; on CUDA devices alone."""
    return vector.handle[: vector.nbytes].view(vector.dtype).reshape(vector.shape)


def in_memory_of(like: object, array: np.ndarray) -> Any:
    """An array of NumPy or CuPy in the kind of memory of `like`; the array itself where it lies there already."""
    if isinstance(like, np.ndarray):
        return on_host(array, "the array")
    return returned_as(like, array) if isinstance(array, np.ndarray) else array


def returned_as(like: Any, x: Any) -> Any:
    """x, a NumPy or CuPy array, as an array of the library of `like`, in the same kind of memory.

    Returns x itself where that library cannot read it, or would round it, as JAX rounds to single precision by default.
    """
    if not is_foreign(like):
        return x
    library: Any = None
    placed = x
    # x is the result of a solve, which no error of another library may lose.
    with contextlib.suppress(Exception):
        if isinstance(x, np.ndarray) and _place(like, "b")[0] in CUDA:
            cupy = _cupy("b")
            with cupy.cuda.Device(_place(like, "b")[1]):
                placed = cupy.asarray(x)
        if hasattr(like, "__array_namespace__"):
            library = like.__array_namespace__()
        else:
            library = sys.modules.get(type(like).__module__.partition(".")[0])
        converted = library.from_dlpack(placed)
        return converted if converted.dtype.itemsize == x.itemsize else placed
    return placed


def _place(array: object, name: str) -> tuple[int, int]:
    """The number of a kind of memory in DLPack, and the number of its device. Raises InputError for other kinds than
    `HOST` and `CUDA`."""
    kind, number = (int(part) for part in _read(lambda array: array.__dlpack_device__(), array, name))
    if kind not in (*HOST, *CUDA):
        raise InputError(
            f"{name} lies on a device of another kind (number {kind} in DLPack), but only memory of the host and of "
            f"CUDA devices can be read; copy {name} to the host"
        )
    return kind, number


def _on_cuda(array: object, name: str) -> Any:
    """An array of another library as a C-ordered CuPy array. Waits until all work on it is done."""
    cupy = _cupy(name)
    with cupy.cuda.Device(_place(array, name)[1]):
        contiguous = cupy.ascontiguousarray(_read(cupy.from_dlpack, array, name))
        # A run has a stream of its own, which does not wait for the current one.
        cupy.cuda.get_current_stream().synchronize()
    return contiguous


def _cupy(name: str) -> ModuleType:
    """CuPy, for the argument of that name. Raises InputError, which says how to install it."""
    try:
        import cupy  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(f"{name} lies on a CUDA device, which needs CuPy: {INSTALL}; or copy it to the host") from None
    return cupy


def _read(read: Callable[[Any], Read], array: object, name: str) -> Read:
    """The result of a function of a library for an array. Raises InputError with the library's reason."""
    try:
        return read(array)
    # Each library has its own errors, as for tensors with gradients and types that NumPy lacks.
    except Exception as error:
        raise InputError(f"{name}, a {type(array).__name__}, cannot be read: {error}") from None
