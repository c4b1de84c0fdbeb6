"""A vector of another library in the memory of an accelerator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Vector


class HeldVector:
    """A user's vector, shape (N,), C-ordered, in the memory of a device; never written to.

    values: a CuPy array. device: its name. As a NumPy array it is a copy.
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

    def astype(self, dtype: np.dtype, *, copy: bool = True) -> HeldVector:
        """The vector in another precision, converted on the device."""
        return HeldVector(self.values.astype(dtype, copy=copy), self.device)

    def any(self) -> bool:
        """True if an entry is not zero; tested on the device."""
        return bool(self.values.any())

    def sum_and_norm(self) -> tuple[complex, float]:
        """The sum of its entries, and its length."""
        return complex(self.values.sum()), float(np.linalg.norm(self.values))

    def less(self, number: complex) -> HeldVector:
        """The vector minus a number in each entry, made on the device."""
        return HeldVector(self.values - self.values.dtype.type(number), self.device)

    def __getitem__(self, place: slice) -> np.ndarray:
        """A part of it, copied to the host."""
        return self.values[place].get()

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values.get(), dtype)
