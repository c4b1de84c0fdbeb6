"""Algebraic multigrid on an NVIDIA GPU by AmgX, an optional dependency."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.extensions.amgx.library import HOW_TO_INSTALL, AmgxSolver, Cycle, installed, takes_addresses
from workbench.lazy import sparse
from workbench.operators import Operator
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.cycle_checks import MultigridCycle, attach_notes, check_cycle
from workbench.preconditioners.pinned import pin_unknowns, project_out
from workbench.registry import parameter, register

RELAXATION = 0.75
"""Damping of Jacobi. Below 1, since the eigenvalues of D^-1 A reach 2 for a Laplacian, and Jacobi without damping would
leave those components as they are."""
FEWEST_COARSE_ROWS = 32
"""Rows below which no coarser level is made; the coarsest is factorized as a dense matrix."""


@register
@dataclasses.dataclass(frozen=True)
class Amgx(Preconditioner):
    """M^-1 = one V-cycle of AmgX with one Jacobi sweep before and after, hence symmetric.

    It takes real matrices in double precision only. The GPU stores the assembled matrix and its levels, and on device
    cuda also r and u; other devices copy both between host and GPU in every application. For a singular A the setup
    pins an unknown, since the direct solve on the coarsest grid needs a nonsingular matrix, and every application
    removes the mean, see `preconditioners.pinned`.

    Cost: one cycle an application; the setup assembles A, builds the levels and makes two cycles as a check.
    Raises InputError, with instructions, if pyamgx is not installed, and for a matrix of another dtype.

    Source: Naumov et al. 2015, AmgX, SIAM J. Sci. Comput. 37.
    """

    name: ClassVar[str] = "amgx"
    title: ClassVar[str] = "algebraic multigrid on the GPU (AmgX)"
    is_cycle: ClassVar[bool] = True
    advised: ClassVar[tuple[str, ...]] = ("amgx",)

    method: str = parameter("classical", "coarsening", choices=("classical", "aggregation"))

    def configuration(self) -> dict[str, Any]:
        """AmgX's configuration of one cycle, in its own names and as its JSON files have it."""
        smoother = {"solver": "BLOCK_JACOBI", "relaxation_factor": RELAXATION, "monitor_residual": 0}
        coarsening = {
            "classical": {"algorithm": "CLASSICAL", "selector": "PMIS", "interpolator": "D2"},
            "aggregation": {"algorithm": "AGGREGATION", "selector": "SIZE_2"},
        }
        cycle = {
            "solver": "AMG",
            "cycle": "V",
            "max_iters": 1,
            "presweeps": 1,
            "postsweeps": 1,
            "smoother": smoother,
            "coarse_solver": "DENSE_LU_SOLVER",
            "min_coarse_rows": FEWEST_COARSE_ROWS,
            "monitor_residual": 0,
            **coarsening[self.method],
        }
        return {"config_version": 2, "determinism_flag": 1, "solver": cycle}

    def check(self, device: Device) -> None:
        if not installed():
            raise InputError(HOW_TO_INSTALL, changes={"preconditioner": "amg:sa"})

    def setup(self, operator: Operator, device: Device) -> MultigridCycle:
        if operator.dtype != np.float64:
            raise InputError(f"amgx needs a real matrix in double precision, got {operator.dtype}; use amg:sa")
        name = f"amgx:{self.method}"
        regular, pins, null_vectors = pin_unknowns(sparse.csr_array(operator.to_csr()), precision_of(operator))
        solver = AmgxSolver(self.configuration(), regular)
        apply = solver.solve if null_vectors is None else project_out(solver.solve, null_vectors)
        notes = [f"A is singular: {name} pins {pins} of its unknowns and removes the mean"] if pins else []
        notes += check_cycle(name, apply, solver.size, operator.dtype)
        if takes_addresses(device):
            cycle = Cycle(solver, device, null_vectors)
        else:
            cycle = device.callable(apply, solver.size, operator.dtype)
        return attach_notes(cycle, name, tuple(notes))
