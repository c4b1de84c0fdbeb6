"""Diffusion stencils of two phases, whose entries come from one byte per cell."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from workbench.devices.accelerator.placed_phase import PlacedPhase
from workbench.devices.host.boxes import Boxes, EarlierParts, Rows
from workbench.devices.host.face_codes import FaceCodes
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.base import DOUBLE, BoundOperator
from workbench.operators.stencil import Stencil


class TwoPhaseStencil(Stencil):
    """-div(c grad p) with a coefficient of two values: a face has one of three coefficients, selected by its code.

    The entries are those of the bands, exactly, and a row times a constant is zero exactly. One product reads N bytes
    and a vector and writes a vector. Bands are made only where a preconditioner asks for them, and then kept.

    Examples:
        >>> from workbench.registry import find
        >>> A = find("problem", "two-layer:16").assemble().operator
        >>> type(A).__name__, A.nbytes
        ('TwoPhaseStencil', 256)
    """

    def __init__(
        self,
        grid: tuple[int, ...],
        faces: FaceCodes,
        dtype: np.dtype = DOUBLE,
        assemble: Callable[[np.ndarray], Stencil] | None = None,
    ) -> None:
        super().__init__(grid, assemble)
        if faces.size != self.shape[0]:
            raise InputError(f"the grid {grid} has {self.shape[0]} cells, but there are codes of {faces.size}")
        self.faces, self._dtype = faces, np.dtype(dtype)

    def moved(self, phase: np.ndarray | PlacedPhase, cells: np.ndarray | None) -> Stencil:
        """The operator for another phase. The codes of changed cells and of their neighbours are made anew, unless they
        have wall terms. All codes of a phase on a device are made anew there."""
        from workbench.devices.host import face_coding

        if isinstance(phase, PlacedPhase):
            if not self.faces.walled:
                return TwoPhaseStencil(self.grid, phase.coded(self.faces), self.dtype, self.assemble)
            phase = np.asarray(phase)
        faces = None if cells is None else face_coding.recoded(self.faces, phase, cells)
        return TwoPhaseStencil(self.grid, faces, self.dtype, self.assemble) if faces else super().moved(phase, cells)

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    def on(self, dtype: np.dtype) -> TwoPhaseStencil:
        """This operator on vectors that are stored in another real precision. Products are computed in double
        precision; bands, which serve preconditioners alone, are rounded."""
        return TwoPhaseStencil(self.grid, self.faces, dtype, self.assemble)

    @property
    def exact(self) -> TwoPhaseStencil:
        return self if self.dtype == DOUBLE else self.on(DOUBLE)

    @property
    def main(self) -> np.ndarray:
        return self._bands[0]

    @property
    def lower(self) -> tuple[np.ndarray, ...]:
        return self._bands[1:]

    @functools.cached_property
    def _bands(self) -> tuple[np.ndarray, ...]:
        """The diagonal and the lower bands."""
        from workbench.devices.host import face_coding

        lower = (face_coding.band(self.faces, direction) for direction in range(len(self.grid)))
        return self.diagonal(), *(band.astype(self.dtype, copy=False) for band in lower)

    @property
    def largest_diagonal(self) -> float:
        return 2 * len(self.grid) * float(self.faces.values.max()) + float(self.faces.walls.max())

    @property
    def nnz(self) -> int:
        outside = sum(self.shape[0] // cells for cells in self.grid)
        return self.shape[0] * (1 + 2 * len(self.grid)) - 2 * outside

    def diagonal(self) -> np.ndarray:
        from workbench.devices.ops import faces

        return faces.diagonal(self.faces, self.dtype)

    @property
    def nbytes(self) -> int:
        return self.faces.stored.nbytes

    def bind(self, device: Device) -> BoundOperator:
        return device.faces(self.faces, self.dtype)

    def neumann(self, device: Device, order: int) -> BoundOperator:
        return device.face_series(self.faces, self.dtype, order)

    @functools.cached_property
    def triangle_norm(self) -> float:  # pyright: ignore[reportIncompatibleMethodOverride]
        """||L D^-1||_inf, computed once. Cost: two passes over the codes."""
        from workbench.devices.host.triangle_norm import norm_of_faces
        from workbench.devices.ops import faces

        return norm_of_faces(self.faces, faces.diagonal(self.faces, DOUBLE, inverse=True))

    def box_matrix(
        self, device: Device, labels: np.ndarray, boxes: Boxes, earlier: EarlierParts | None = None
    ) -> Rows | None:
        return device.face_box_matrix(self.faces, labels, boxes, earlier)
