"""The method for the boxes of a Schwarz method: as plain data, which a worker can be sent, and as a solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.devices.protocol import Device
from workbench.preconditioners import ElementWise, Preconditioner
from workbench.preconditioners.schwarz.subdomain_factors import Subdomain, joined
from workbench.preconditioners.schwarz.subdomain_solvers import ExactSolver, sweep_solver

if TYPE_CHECKING:
    from workbench.preconditioners.schwarz.subdomain_solvers import SubdomainSolver

EXACT, SWEEPS = "exact", "sweeps"


class SubdomainMethod(NamedTuple):
    """The parameters of Schwarz that its boxes need. solver: exact, sweeps, or the text of a first level. sweeps: their
    number. precision: dtype of exact solves and of sweeps. dtype: of the vectors."""

    solver: str
    sweeps: int
    precision: np.dtype
    dtype: np.dtype

    @property
    def joins_boxes(self) -> bool:
        """True if a result in one box may depend on the boxes that are solved with it, as bounds of eigenvalues do."""
        return self.solver not in (EXACT, SWEEPS)

    def solver_of(self, boxes: Sequence[Subdomain], device: Device) -> SubdomainSolver:
        """The solver of all these boxes on a local vector."""
        if self.solver == EXACT:
            return ExactSolver(boxes, device, self.dtype, self.precision)
        if self.solver == SWEEPS:
            return sweep_solver(boxes, device, self.sweeps, self.precision)
        matrix = joined(boxes)
        first_level = Preconditioner.named(self.solver)
        bound = first_level.setup(matrix, device)
        return device.applied(bound, matrix.shape[0], self.dtype) if isinstance(bound, ElementWise) else bound
