"""The pressure equation -div(1/rho grad p) = f of two-phase flow (bubbles, slabs), with a random right-hand side."""

from __future__ import annotations

import numpy as np

from workbench.arrays.validation import Drawn
from workbench.devices.host.slab import Slab
from workbench.operators.null_space import constants
from workbench.problems.base import LinearSystem
from workbench.problems.diffusion import assemble_two_phases, two_phase_rows
from workbench.problems.sides import is_closed


def dispersed_phase_rows(phase: np.ndarray, contrast: float, sides: str, seed: int, slab: Slab) -> LinearSystem:
    """The rows of a slab of `dispersed_phase_system`, for the phases of its planes and ghost planes; the mean of b is
    not subtracted."""
    scale, closed = float(slab.grid[-1]) ** 2, is_closed(sides, phase.ndim)
    operator = two_phase_rows(phase, (contrast, 1.0), sides, slab, scale=scale)
    b = Drawn([seed, 1], slab.size, slab.rows.start)
    return LinearSystem(
        operator,
        b.array() if closed else b,
        grid=slab.grid,
        coefficients=(contrast, 1.0),
        phase=phase.reshape(-1)[slab.inner],
        null_space=constants(slab.size, np.dtype(np.float64)) if closed else None,
        random_start=True,
        slab=slab,
    )


def dispersed_phase_system(phase: np.ndarray, contrast: float, sides: str, seed: int) -> LinearSystem:
    """The pressure equation on the unit square or cube, with b and x0 uniform random in [0, 1).

    phase: integer, shape (n, n) or (n, n, n), above 0 in the dispersed phase. Densities are relative to that phase: 1
    where phase > 0 and 1/contrast elsewhere, so the coefficient 1/rho is 1 and contrast. A is scaled by 1/h^2, and the
    mean of b is subtracted if all sides are Neumann. Raises InputError for invalid sides and insufficient memory.

    Source: Gupta, van Gijzen, Vuik 2013, section 2. The paper prints neither b nor the scale of A, which determine
    how strict 1e-6 ||b|| is; this choice reproduces its Tables 3 and 4 within 15%. A slab problem at 128^3 starts from
    ||r0|| = 7.4e4 ||b|| and takes 308 iterations with Neu2 alone; densities contrast and 1 would give 7.4e7 and 398.
    """
    n = phase.shape[0]
    operator = assemble_two_phases(phase, (contrast, 1.0), sides, scale=float(n) ** 2)
    closed = is_closed(sides, phase.ndim)
    # A separate random stream, since a random x0 drawn from default_rng(seed) must differ from b.
    b = Drawn([seed, 1], phase.size, centred=closed)
    return LinearSystem(
        operator,
        b,
        grid=phase.shape,
        coefficients=(contrast, 1.0),
        phase=phase.reshape(-1),
        null_space=constants(phase.size, operator.dtype) if closed else None,
        random_start=True,
    )
