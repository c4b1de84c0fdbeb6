"""A test for runs that failed because A is singular and b is not in its range."""

from __future__ import annotations

import itertools
import math

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.operators.null_space import excess_of_products
from workbench.run.choices.stopping import Reason
from workbench.run.loop.energy import near_one
from workbench.run.setup.solve_setup import SolveSetup
from workbench.solvers.cg import CG

SINGULAR = 16
"""Units of roundoff by which the rows of A v may differ from zero for a v that was iterated."""
ROUNDS, REDUCTION = 6, 1e-6
"""Runs of CG at most, each from the v of the last one, and by how much one reduces ||A v||. In a single run the
recurrence would lose the true A v."""
LEAST = 100
"""Iterations of a run of CG at most, where the failed one made fewer."""
ROWS = 10**8
"""Rows of A that all of them read at most, unless the failed run read more."""
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

    b: on the device. true_residual: ||b - A x||/||b|| of the failed run. iterations: those that it made. CG is applied
    to A v = 0 from v = b: it takes off v what lies in the range of A, and stops at what A maps to zero. A run that was
    stopped by rounding, or by a low limit of iterations, is not examined.

    Cost: at most as many iterations of CG as the failed run made, or for a small A `ROUNDS` times as many; four vectors
    on the device more than CG needs, and ten in host memory.
    """
    # All ranks take the same decisions, whatever the rows that they have.
    unknowns = setup.system.unknowns
    limited = reason is Reason.MAXITER and iterations < unknowns
    low = limited or true_residual <= np.sqrt(np.finfo(b.dtype).eps)
    mixed = setup.product is not setup.bound
    if reason not in FAILED or low or mixed or setup.solver.complex_symmetric or setup.solver.has_user_lines:
        return ""
    try:
        most = max(iterations, min(LEAST, ROWS // unknowns))
        share = _share_of_null_vector(setup, b, most)
    # There may be no room for it.
    except InputError:
        return ""
    return f"A v is zero to rounding for a v with (v, b) = {share:.3g} ||v|| ||b||" if share else ""


def _share_of_null_vector(setup: SolveSetup, b: DeviceVector, iterations: int) -> float:
    """(v, b)/(||v|| ||b||) for a null vector v; 0 where none is found, and where b is orthogonal to it to rounding.

    iterations: of a run of CG at most.
    """
    device, size, eps = setup.device, setup.operator.shape[0], float(np.finfo(b.dtype).eps)
    b, _ = near_one(b, device)
    v = device.copy(b)

    def product(values: DeviceVector) -> np.ndarray:
        out = device.zeros(size, b.dtype)
        setup.bound.apply(values, out)
        return device.to_host(out)

    rng = np.random.default_rng(0)
    others = tuple(product(device.array(rng.standard_normal(size), b.dtype)) for _ in range(2))

    def is_null() -> bool:
        found = device.to_host(device.whole(v))
        largest = device.largest(float(np.abs(found).max()))
        if not largest > 0:
            return False
        excess = excess_of_products(product(device.whole(v)), np.array([largest]), others, SINGULAR * eps)
        return device.largest(float(excess is not None)) == 0

    vectors, operators = {"b": device.zeros(size, b.dtype), "x": v}, {"A": setup.bound, "M": setup.first_level}
    workspace = device.workspace(size, np.dtype(b.dtype), vectors=vectors, operators=operators)
    for _ in range(max(1, min(ROUNDS, ROWS // max(1, iterations * setup.system.unknowns)))):
        first = math.inf
        for _ in itertools.islice(CG().iterates(workspace), iterations + 1):
            square = float(np.real(workspace.scalar("rr")))
            first = square if first == math.inf else first
            if not square > REDUCTION**2 * first:
                break
        if is_null():
            break
    else:
        return 0.0
    v = device.whole(v)
    share = abs(device.vdot(v, b)) / (device.norm(v) * device.norm(b))
    return share if share > np.sqrt(eps) else 0.0
