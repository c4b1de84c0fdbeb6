"""A user's vector in device memory: an array of another library, such as CuPy, that no copy to the host precedes."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Vector


class UserVector:
    """A user's vector, shape (N,), C-ordered, in the memory of a device; never written to.

    values: a CuPy array. device: the name of the device. `np.asarray` copies it to the host.
    """

    ndim = 1

    def __init__(self, values: Any, device: str) -> None:
        self.values, self.device = values, device
        self.vector = Vector(values, values.shape, np.dtype(values.dtype))
        """The memory of `values`, as kernels take it."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.vector.shape

    @property
    def size(self) -> int:
        return self.vector.size

    @property
    def dtype(self) -> np.dtype:
        return self.vector.dtype

    def astype(self, dtype: np.dtype, *, copy: bool = True) -> UserVector:
        """The vector in another precision, converted on the device."""
        return UserVector(self.values.astype(dtype, copy=copy), self.device)

    def any(self) -> bool:
        """True if an entry is not zero; tested on the device."""
        return bool(self.values.any())

    def sum_and_norm(self) -> tuple[complex, float]:
        """The sum of the entries, and the Euclidean norm; computed on the device."""
        return complex(self.values.sum()), float(np.linalg.norm(self.values))

    def less(self, number: complex) -> UserVector:
        """The vector minus a number in each entry, made on the device."""
        return UserVector(self.values - self.values.dtype.type(number), self.device)

    def __getitem__(self, place: slice) -> np.ndarray:
        """A slice of the vector, copied to the host."""
        return self.values[place].get()

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values.get(), dtype)
