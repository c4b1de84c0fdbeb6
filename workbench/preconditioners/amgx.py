"""Algebraic multigrid on an NVIDIA GPU by AmgX, where it is installed."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.devices.amgx import AmgxSolver, Cycle, takes_addresses
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.cycle import check, with_notes
from workbench.preconditioners.pinned import pinned, projected
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Amgx(Preconditioner):
    """M^-1 = one V-cycle of AmgX with one Jacobi sweep before and after, which keeps it symmetric.

    Double precision and real matrices only. The assembled matrix and its levels lie on the GPU. On device cuda so do r
    and u; from other devices they cross to the GPU and back in every application. A singular A is pinned for the setup
    and the constants are projected out, see `pinned`: a direct solve on the coarsest grid needs a regular matrix.
    Raises InputError where pyamgx is not installed, with how to get it.
    Source: Naumov et al., AmgX: a library for GPU accelerated algebraic multigrid, SIAM J. Sci. Comput. 37, 2015.
    """

    name: ClassVar[str] = "amgx"
    title: ClassVar[str] = "algebraic multigrid on the GPU (AmgX)"

    method: str = parameter("classical", "coarsening", choices=("classical", "aggregation"))

    def configuration(self) -> dict[str, Any]:
        """AmgX's description of one cycle."""
        smoother = {"solver": "BLOCK_JACOBI", "relaxation_factor": 0.75, "monitor_residual": 0}
        levels = {
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
            "min_coarse_rows": 32,
            "monitor_residual": 0,
            **levels[self.method],
        }
        return {"config_version": 2, "determinism_flag": 1, "solver": cycle}

    def setup(self, operator: Operator, device: Device) -> Any:
        if operator.dtype != np.float64:
            raise InputError(f"amgx takes real matrices in double precision, got {operator.dtype}; use amg:sa")
        name = f"amgx:{self.method}"
        regular, pins = pinned(sparse.csr_array(operator.to_csr()))
        solver = AmgxSolver(self.configuration(), regular)
        action = projected(solver.solve) if pins else solver.solve
        notes = [f"A is singular: {name} pins {pins} of its unknowns and removes the mean"] if pins else []
        notes += check(name, action, solver.size, operator.dtype)
        if takes_addresses(device):
            return with_notes(Cycle(solver, device, projected=pins > 0), name, tuple(notes))
        return with_notes(device.callable(action, solver.size, operator.dtype), name, tuple(notes))
