"""A Neumann series on codes of faces: in one sweep on GPUs where vectors are larger than caches, else term by term."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.accelerator.tile_plan import series_planes, series_tile
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.kernels import series as texts
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.ops import faces as term_by_term
from workbench.devices.series import TermByTerm

if TYPE_CHECKING:
    from workbench.devices.accelerator.runtime import Function

SWEPT_BYTES = 8 << 20
"""Least bytes of a vector for a sweep: smaller ones of an iteration fit the last-level cache together, and iterations
are one persistent kernel, of which a sweep, with groups of its own, could be no part."""
MOST_ORDER = 3


def face_series(device: Any, faces: FaceCodes, dtype: np.dtype, order: int) -> TermByTerm | FaceSweep:
    """K^T D^-1 K on vectors of that dtype, K the Neumann series of that order."""
    large = not device.layout.chunked and faces.size * dtype.itemsize >= SWEPT_BYTES
    if large and takes(faces, order):
        tile = series_tile(device.layout, faces.directions, order, dtype.itemsize)
        if tile:
            return FaceSweep(device, faces, dtype, tile)
    return term_by_term.series(device, faces, dtype, order)


def takes(faces: FaceCodes, order: int) -> bool:
    """True if a sweep takes these codes. With a direction of one cell more faces may be at the edge: it takes none."""
    few = order <= MOST_ORDER and faces.directions > 1 and faces.size <= np.iinfo(np.int32).max
    return few and min(_sides(faces)) > 1 and min(faces.values[0], faces.values[2]) > 0


def _sides(faces: FaceCodes) -> list[int]:
    """Cells in each direction, x first."""
    return [end // stride for stride, end in itertools.pairwise((*faces.strides, faces.size))]


class FaceSweep(OperatorTraits):
    """u = K^T D^-1 K r in one sweep along the farthest direction. Stores two bytes of each cell."""

    def __init__(self, device: Launcher, faces: FaceCodes, dtype: np.dtype, tile: texts.Tile) -> None:
        self._device, self._faces, self._dtype, self._tile = device, faces, np.dtype(dtype), tile
        self._cells = device.empty((faces.size,), np.uint16)
        steps = tuple(np.int64(stride) for stride in faces.strides)
        of = {"steps": (int,) * faces.directions}
        make = device.function(texts.cells, self._dtype, annotations=of, directions=faces.directions)
        make.over(faces.size, device.to_device(faces.stored), self._cells, steps)
        self._shares = device.array(texts.shares(faces), self._dtype)
        first, mixed, second, _ = faces.values
        self._numbers = [device.number(v, self._dtype) for v in (1 / first, 1 / second, mixed / first, mixed / second)]
        nx, *lines, nz = _sides(faces)
        ny = lines[0] if lines else 1
        across = -(-nx // tile.columns)
        tiles = across * -(-ny // tile.lines)
        planes = series_planes(tile, tiles, nz, device.runtime.multiprocessors)
        self._sides = [np.int32(number) for number in (nx, ny, nz, across, tiles, planes)]
        self._groups = tiles * -(-nz // planes)
        self._kernels: dict[bool, tuple[Function, Dots | None]] = {}

    def _kernel(self, *, summed: bool) -> tuple[Function, Dots | None]:
        """Compiled when it is first needed: with deflation, dot products come from another pass."""
        if summed not in self._kernels:
            text = texts.sweep(self._tile, self._device.layout, self._dtype.itemsize, summed=summed)
            kernel = self._device.kernel(text, text.name, self._dtype, group=self._tile.group)
            self._kernels[summed] = kernel, Dots(self._device, self._dtype, self._groups) if summed else None
        return self._kernels[summed]

    def apply(self, r: Vector, u: Vector, *wanted: str) -> Dots | None:
        """u = M^-1 r; all three dot products where one is requested. The two may not be the same vector."""
        kernel, dots = self._kernel(summed=bool(wanted))
        arguments = (r, u, self._cells, self._shares, *self._numbers, *self._sides, *([dots.partial] if dots else []))
        self._device.launch(kernel, self._groups, *arguments, group=self._tile.group)
        return dots

    @property
    def traffic(self) -> int:
        return (2 * self._dtype.itemsize + self._cells.itemsize) * self._faces.size

    @property
    def flops(self) -> int:
        """A multiplication and an addition for each coefficient of each term, and D^-1."""
        return (4 * self._tile.halo * self._faces.directions + 1) * self._faces.size
