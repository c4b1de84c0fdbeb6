"""The phase of each cell in the memory of an accelerator, and the codes of faces that follow from it."""

from __future__ import annotations

import functools
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.host.face_codes import FaceCodes

if TYPE_CHECKING:
    from workbench.devices.accelerator.launcher import Launcher

SINGLE = np.dtype(np.float32)
"""The dtype of kernels on integers alone."""
WHOLE = np.dtype(np.int32)
"""The dtype of phases."""


class PlacedPhase:
    """Numbers of phases, int32, on a device, never written to.

    As a NumPy array it is a copy, made once. device: where it is. vector: shape (N,). shape: (N,) or that of the grid.
    """

    dtype = WHOLE

    def __init__(self, device: Launcher, vector: Vector, shape: tuple[int, ...]) -> None:
        self.device, self.vector, self.shape = device, vector, shape

    @classmethod
    def of(cls, device: Launcher, phase: np.ndarray) -> PlacedPhase:
        """A copy of an array of the host."""
        return cls(device, device.array(phase.reshape(-1), WHOLE), phase.shape)

    def lies_on(self, device: object) -> bool:
        """True if the phase is in the memory of a device, which may be no accelerator."""
        return getattr(device, "runtime", None) is self.device.runtime

    @property
    def size(self) -> int:
        return self.vector.size

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def reshape(self, *shape: Any) -> PlacedPhase:
        """The phase in the same memory. shape: (N,) as -1, or that of the grid."""
        wanted = shape[0] if isinstance(shape[0], tuple) else shape
        return PlacedPhase(self.device, self.vector, (self.size,) if wanted == (-1,) else wanted)

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        values = self._on_host.reshape(self.shape)
        return np.array(values, dtype) if copy else np.asarray(values, dtype)

    def __getitem__(self, places: np.ndarray) -> np.ndarray:
        """The phases of some cells, in host memory. places: flat, of any shape. Waits for the device."""
        found = self.device.empty((places.size,), WHOLE)
        if found.size:
            self._over(_kernels().gather, found, self.vector, self._places(places), found)
        return self.device.to_host(found).reshape(places.shape)

    def changed(self, places: np.ndarray, values: np.ndarray) -> PlacedPhase:
        """A copy in which some cells have other phases."""
        made = self.device.copy(self.vector)
        given = self._places(places), self.device.array(values, WHOLE)
        self._over(_kernels().scatter, given[0], *given, made)
        return PlacedPhase(self.device, made, self.shape)

    def bits(self) -> np.ndarray:
        """A bit for each cell, set for a phase above 0, packed as by `numpy.packbits`."""
        made = self.device.empty((-(-self.size // 8),), np.uint8)
        self._over(_kernels().bits, made, self.vector, np.int64(self.size), made)
        return self.device.to_host(made)

    def coded(self, faces: FaceCodes) -> FaceCodes:
        """The codes of this phase, for coefficients as those of `faces`, which have no wall terms."""
        made = self.device.empty((self.size,), np.uint8)
        # The stride of a direction that the grid lacks is N.
        strides = (*faces.strides, self.size, self.size)
        sizes = np.int64(strides[1]), np.int64(strides[2] // strides[1]), np.int64(faces.directions)
        self._over(_kernels().codes, made, self.vector, *sizes, made)
        return PlacedFaces(self.device, made, faces)

    @functools.cached_property
    def _on_host(self) -> np.ndarray:
        return self.device.to_host(self.vector)

    def _places(self, places: np.ndarray) -> Vector:
        return self.device.array(places.reshape(-1), np.int64)

    def _over(self, function: FunctionType, items: Vector, *arguments: object) -> None:
        self.device.function(function, SINGLE).over(items.size, *arguments)


class PlacedFaces(FaceCodes):
    """Codes of faces in device memory; the host gets a copy of them where it asks for it."""

    device: Launcher
    vector: Vector

    def __init__(self, device: Launcher, stored: Vector, like: FaceCodes) -> None:
        # The fields of a frozen class; the codes are made by the property.
        vars(self).update(values=like.values, walls=like.walls, strides=like.strides, device=device, vector=stored)

    @functools.cached_property
    def codes(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.device.to_host(self.vector)

    @property
    def stored(self) -> Vector:
        return self.vector

    @property
    def size(self) -> int:
        return self.vector.size


def _kernels() -> ModuleType:
    # Imported here: runs on the cores ask for phases on a device too, and read no kernel of accelerators.
    from workbench.devices.kernels import phases

    return phases
