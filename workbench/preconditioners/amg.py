"""Algebraic multigrid by PyAMG: the preconditioner that a user would otherwise pick."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.blocks import parameter, register
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner


@register
@dataclasses.dataclass(frozen=True)
class Amg(Preconditioner):
    """M^-1 = one V-cycle of PyAMG with symmetric Gauss-Seidel sweeps and the pseudo-inverse on the coarsest grid.

    sa is smoothed aggregation, rs Ruge-Stuben for real matrices. PyAMG computes in double precision, on one core and on
    the host. Memory and setup are several times those of the assembled matrix. Raises InputError where PyAMG is not
    installed, for rs with complex entries, and when A does not show its entries.
    Source: Vanek, Mandel, Brezina 1996; Ruge, Stuben 1987; Bell, Olson, Schroder 2022.
    """

    name: ClassVar[str] = "amg"
    title: ClassVar[str] = "algebraic multigrid (PyAMG)"

    method: str = parameter("sa", "smoothed aggregation or Ruge-Stuben", choices=("sa", "rs"))

    def setup(self, operator: Operator, device: Any) -> Any:
        hierarchy = self.hierarchy(operator)
        cycle = hierarchy.aspreconditioner(cycle="V")
        wide = np.result_type(operator.dtype, np.float64)
        return device.callable(lambda r: cycle.matvec(r.astype(wide)), operator.shape[0], operator.dtype)

    def hierarchy(self, operator: Operator) -> Any:
        """PyAMG's levels, the same at every call."""
        if self.method == "rs" and operator.dtype.kind == "c":
            raise InputError("amg: Ruge-Stuben needs a real matrix, got complex entries; use amg:sa")
        try:
            pyamg = importlib.import_module("pyamg")
        except ImportError:
            raise InputError("preconditioner amg needs PyAMG, which is not installed; run: pip install pyamg") from None
        matrix = sparse.csr_array(operator.to_csr(), dtype=np.result_type(operator.dtype, np.float64))
        smoother = ("gauss_seidel", {"sweep": "symmetric"})
        settings = {"presmoother": smoother, "postsmoother": smoother, "coarse_solver": "pinv"}
        # PyAMG estimates spectral radii from NumPy's global random numbers.
        state = np.random.get_state()
        np.random.seed(0)
        try:
            if self.method == "rs":
                return pyamg.ruge_stuben_solver(matrix, **settings)
            return pyamg.smoothed_aggregation_solver(matrix, symmetry="hermitian", **settings)
        finally:
            np.random.set_state(state)
