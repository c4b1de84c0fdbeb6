"""Whether a run failed because A is singular and b is not in its range."""

from __future__ import annotations

import itertools

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Reason
from workbench.solvers.cg import CG

SINGULAR = 1e3
"""A v counts as zero if ||A v|| is at most so many units of roundoff of ||A w||/||w|| ||v||, w being random."""
LEAST = 100
"""Iterations of CG that are made in any case, unless it converges."""
FAILED = (
    Reason.INDEFINITE,
    Reason.INDEFINITE_M,
    Reason.ROUNDING,
    Reason.DIVERGED,
    Reason.STAGNATED,
    Reason.INACCURATE,
    Reason.MAXITER,
)
"""Reasons that an inconsistent system may end with."""


def null_component(setup: SolveSetup, reason: Reason, b: DeviceVector, true_residual: float, iterations: int) -> str:
    """A sentence on a null vector of A that b has a component of; empty where none is found.

    b: on the device. true_residual: ||b - A x||/||b|| of the run that failed after so many iterations. CG is applied to
    A v = 0 from v = b: it takes off v what lies in the range of A, and stops at what A maps to zero. A run that was
    stopped by rounding, or by a low limit of iterations, is not looked into.

    Cost: at most twice as many iterations of CG as the run has made, and two vectors more than CG needs.
    """
    device, size, eps = setup.device, setup.operator.shape[0], float(np.finfo(setup.b.dtype).eps)
    low = true_residual <= np.sqrt(eps) or (reason is Reason.MAXITER and iterations < size)
    mixed = setup.product is not setup.bound
    if reason not in FAILED or low or mixed or setup.solver.complex_symmetric or setup.solver.has_user_lines:
        return ""
    zero, v, product = device.zeros(size, b.dtype), device.copy(b), device.zeros(size, b.dtype)
    w = device.array(np.random.default_rng(0).standard_normal(size).astype(b.dtype), b.dtype)
    setup.bound.apply(w, product)
    allowed = SINGULAR * eps * device.norm(product) / device.norm(w)
    vectors, operators = {"b": zero, "x": v}, {"A": setup.bound, "M": setup.first_level}
    workspace = device.workspace(size, np.dtype(b.dtype), vectors=vectors, operators=operators)
    for _ in itertools.islice(CG().iterates(workspace), max(2 * iterations, LEAST) + 1):
        if not device.norm(workspace.vector("r")) > allowed * device.norm(v):
            break
    setup.bound.apply(v, product)
    length = device.norm(v)
    if not (length > 0 and device.norm(product) <= allowed * length):
        return ""
    share = abs(device.vdot(v, b)) / (length * device.norm(b))
    if share <= np.sqrt(eps):
        return ""
    return f"A v is zero to rounding for a v with (v, b) = {share:.3g} ||v|| ||b||"
