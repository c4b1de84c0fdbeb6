"""Arrays of other libraries (CuPy, PyTorch, JAX), through DLPack: taken where they lie, and returned in their kind.

In host memory no entry is copied. A vector in the memory of a CUDA device stays there for a run on that device; for
everything else it is copied to the host by CuPy.

Source: the DLPack protocol, `__dlpack__` and `__dlpack_device__` (Python array API standard, 2022).
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

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

    from workbench.devices.collectives import T

HOST, CUDA = (1, 3), (2, 13)
"""Kinds of memory in DLPack: of the host, page-locked or not; of a CUDA device, managed or not."""
ALIGNED = 32
"""Bytes at whose multiples a vector begins that stays where it is."""
INSTALL = 'pip install "cupy-cuda13x[ctk]"'


def is_foreign(array: object) -> bool:
    """True for an array of another library than NumPy that DLPack can read."""
    return hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__") and not isinstance(array, np.ndarray)


def on_host(array: Any, name: str) -> Any:
    """A foreign array as a NumPy array, a sparse matrix of CuPy or PyTorch as one of SciPy; anything else as it is.

    name: of the argument. Cost: nothing in host memory, a copy from a CUDA device. Raises InputError for memory that
    cannot be read.
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


def kept(array: object, name: str) -> Any:
    """b or x0: a `UserVector` where it is a vector in CUDA memory, in a working precision, else as `on_host` has it."""
    if not is_foreign(array) or _place(array, name)[0] not in CUDA:
        return on_host(array, name)
    there = _on_cuda(array, name)
    if there.ndim != 1 or np.dtype(there.dtype) not in DTYPES:
        return on_host(array, name)
    # Kernels read several numbers at once.
    there = there.copy() if there.data.ptr % ALIGNED else there
    return UserVector(there, f"cuda:{there.device.id}" if there.device.id else "cuda")


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
    """A vector of a CUDA device as a CuPy array, in the same memory."""
    return vector.handle[: vector.nbytes].view(vector.dtype).reshape(vector.shape)


def alike(array: np.ndarray, like: object) -> Any:
    """An array of NumPy or CuPy in the kind of memory of another. Itself where it lies there."""
    if isinstance(like, np.ndarray):
        return on_host(array, "the array")
    return returned_as(like, array) if isinstance(array, np.ndarray) else array


def returned_as(like: Any, x: Any) -> Any:
    """x, a NumPy or CuPy array, in the library and the kind of memory of b.

    x itself where that library cannot take it, or would round it, as JAX rounds to single precision by default.
    """
    if not is_foreign(like):
        return x
    library: Any = None
    there = x
    # After a solve nothing that another library raises may lose x.
    with contextlib.suppress(Exception):
        if isinstance(x, np.ndarray) and _place(like, "b")[0] in CUDA:
            cupy = _cupy("b")
            with cupy.cuda.Device(_place(like, "b")[1]):
                there = cupy.asarray(x)
        if hasattr(like, "__array_namespace__"):
            library = like.__array_namespace__()
        else:
            library = sys.modules.get(type(like).__module__.partition(".")[0])
        taken = library.from_dlpack(there)
        return taken if taken.dtype.itemsize == x.itemsize else there
    return there


def _place(array: object, name: str) -> tuple[int, int]:
    """The kind of memory and the number of its device. Raises InputError for one that cannot be read."""
    kind, number = (int(part) for part in _read(lambda array: array.__dlpack_device__(), array, name))
    if kind not in (*HOST, *CUDA):
        raise InputError(
            f"{name} lies on a device of another kind (number {kind} in DLPack), but only memory of the host and of "
            f"CUDA devices can be read; copy {name} to the host"
        )
    return kind, number


def _on_cuda(array: object, name: str) -> Any:
    """A foreign array as a C-ordered CuPy array, once all work on it is done."""
    cupy = _cupy(name)
    with cupy.cuda.Device(_place(array, name)[1]):
        there = cupy.ascontiguousarray(_read(cupy.from_dlpack, array, name))
        # Runs have a stream of their own.
        cupy.cuda.get_current_stream().synchronize()
    return there


def _cupy(name: str) -> ModuleType:
    try:
        import cupy  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise InputError(f"{name} lies on a CUDA device, which needs CuPy: {INSTALL}; or copy it to the host") from None
    return cupy


def _read(taken: Callable[[Any], T], array: object, name: str) -> T:
    try:
        return taken(array)
    # Each library has its own errors, as for tensors with gradients and types that NumPy lacks.
    except Exception as error:
        raise InputError(f"{name}, a {type(array).__name__}, cannot be read: {error}") from None
