"""DEF2 by PETSc's PCDEFLATION, an optional dependency."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.projection import Projection
from workbench.deflation.subspace import SparseColumns
from workbench.deflation.variants import Variant
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.extensions.petsc import library as petsc
from workbench.lazy import sparse
from workbench.operators import BoundOperator
from workbench.registry import register

REFUSAL = (
    "variant pcdeflation is for piecewise constant vectors, such as stripes, blocks or levelset, in float64 on device "
    "cpu; use variant def2"
)


@register
@dataclasses.dataclass(frozen=True)
class PcDeflation(Variant):
    """DEF2 by PETSc: P^T by its matrices Z and Z^T A, and E factored by its LU, on one core.

    Cost: as DEF2, with a product with Z^T A in place of one with A.

    Raises InputError where petsc4py is not installed, on other devices than cpu, for numbers other than float64, and
    for deflation vectors that are not piecewise constant.

    Source: Balay et al., PETSc/TAO Users Manual, ANL-21/39, PCDEFLATION.
    """

    name: ClassVar[str] = "pcdeflation"
    title: ClassVar[str] = "DEF2 by PETSc's PCDEFLATION"
    on_ranks: ClassVar[bool] = False
    projects_start: ClassVar[bool] = True
    keeps_z_orthogonal: ClassVar[bool] = True
    uses_az: ClassVar[bool] = True

    def check(self, space: str, device: Device) -> None:
        petsc.need(f"variant {self.name}", {"variant": "def2"})
        if device.name != "cpu" or space in ("eigenvectors", "ritz", "file"):
            raise InputError(REFUSAL, changes={"variant": "def2"})

    def precondition(self, projection: Projection, M: BoundOperator, device: Device) -> BoundOperator:
        columns = projection.columns
        if not isinstance(columns, SparseColumns) or projection.dtype != np.float64:
            raise InputError(REFUSAL)
        rank, rows = projection.rank, columns.labels.size
        # The vector that E is solved without has no entries.
        kept = columns.labels < rank
        starts = np.concatenate([[0], np.cumsum(kept)])
        Z = sparse.csr_array((np.ones(starts[-1]), columns.labels[kept], starts), shape=(rows, rank))
        u = device.zeros(rows, projection.dtype)

        def first_level(r: np.ndarray, out: np.ndarray) -> None:
            M.apply(device.array(r, projection.dtype), u)
            out[:] = u

        made = petsc.Deflation(first_level, Z, sparse.csr_array(columns.az[:, :rank]))
        return device.callable(made.apply, rows, projection.dtype)
