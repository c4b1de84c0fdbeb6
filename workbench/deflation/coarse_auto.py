"""The choice of a coarse solver by estimated times: inverse, band Cholesky, sparse factorization, multilevel cycles."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from workbench.deflation import lapack
from workbench.deflation.coarse import Cholesky, CoarseSolver, Factor
from workbench.deflation.coarse_dense import Inverse
from workbench.deflation.galerkin import PlacedMatrix, in_host_memory
from workbench.deflation.parts import Parts
from workbench.devices.coarse import MOST_DENSE_ON_GPU
from workbench.lazy import sparse
from workbench.registry import register

SOLVES = 30
"""Coarse solves of a run, about as many as iterations with boxes of four cells per side."""
BAND_FLOPS, BAND_BYTES = 4.6e9, 30e9
"""Rates per second at which a band is factored and read; these and the next figures were measured on two cores, for
8 bubbles at 64^3 and 128^3 with boxes of four and eight cells per side."""
SPARSE_SETUP, SPARSE_SOLVE, SPARSE_VECTORS = 2.9, 0.025, 36672
"""Seconds of a sparse factorization and of a solve with it, for this number of vectors of boxes in 3D. Nested
dissection has d^2 flops and d^(4/3) entries there."""
CYCLE_SETUP, CYCLE_SOLVE = 2e-6, 1.5e-7
"""Seconds per vector of the setup of levels and of a solve with them."""
FEW = 64
"""Vectors up to which the explicit inverse costs least: at 64 a solve took 1.3 against 9.3 microseconds of a band, and
the setup no longer, on one core; beyond, the setup takes more than 30 solves save."""
MOST_UNPLACED = 20_000
"""Vectors up to which E is factorized where nothing says where they lie. Cycles over parts of E are less exact: with
1,187 parts of tetrahedra with coefficients from 1 to 10^6 IC took 90 iterations, and 62 with a factorization, of which
20,000 vectors take about a second."""
WELL_CONDITIONED = 1e3
"""Condition number of E with unit diagonal up to which the product of E and its inverse is the identity to 1e-13."""


@register
@dataclasses.dataclass(frozen=True)
class Auto(CoarseSolver):
    """The coarse solver with the shortest estimated setup and solves, from the number of vectors and the pattern of E.

    Band Cholesky for few vectors and for stripes, multilevel cycles for many boxes, a sparse factorization in between,
    where the variant needs E solved to rounding, and for up to `MOST_UNPLACED` vectors that are not of boxes, such as
    labels of an unstructured mesh. The explicit inverse for at most `FEW` vectors where it is as
    accurate as a factorization: the condition number of E, scaled to unit diagonal, is at most `WELL_CONDITIONED`; not
    of a singular E. A note of the run says which, and why.
    """

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "automatic (by estimated time)"
    in_single: ClassVar[bool] = True

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        return self.resolved(matrix, parts, on_host=True, exact=True)[0].factor(matrix, parts)

    def resolved(
        self, matrix: sparse.csr_array | PlacedMatrix, parts: Parts | None, *, on_host: bool, exact: bool
    ) -> tuple[CoarseSolver, str]:
        if not matrix.nnz:
            # No vector is left.
            return Cholesky(), ""
        if (
            matrix.shape[0] <= FEW
            and (condition := scaled_condition(in_host_memory(matrix).toarray())) <= WELL_CONDITIONED
        ):
            reason = f"a dense product is the fastest for at most {FEW}, and cond(E) is about {condition:.1g}"
            return Inverse(), f"coarse auto is inverse for {matrix.shape[0]} vectors: {reason}"
        seconds = estimated_seconds(matrix, parts, on_host=on_host)
        if parts is None and matrix.shape[0] <= MOST_UNPLACED:
            exact = True
        allowed = by_seconds(seconds, exact=exact)
        chosen = allowed[0]
        listed = ", ".join(f"{name} {seconds[name]:.2g} s" for name in allowed)
        solver = CoarseSolver.named(chosen)
        solver, more = solver.resolved(matrix, parts, on_host=on_host, exact=exact)
        reason = f"coarse auto is {chosen} for {matrix.shape[0]} vectors; estimated setup and solves: {listed}"
        if parts is None and not solver.is_exact(matrix.shape[0]):
            reason += "; vectors without boxes are merged along couplings of E, less exactly than coarse sparse"
        return solver, f"{reason}; {more}" if more else reason

    def for_count(self, count: int, width: int, *, on_host: bool, exact: bool) -> CoarseSolver:
        chosen = by_seconds(seconds_for(count, width, on_host=on_host), exact=exact)[0]
        return CoarseSolver.named(chosen)

    def instead(self, count: int) -> CoarseSolver | None:
        return Inverse() if count <= FEW else None


def scaled_condition(matrix: np.ndarray) -> float:
    """The condition number in the maximum norm of a dense definite E with unit diagonal; infinite for any other."""
    diagonal = np.real(np.diagonal(matrix))
    if not np.all(diagonal > 0):
        return math.inf
    scale = 1 / np.sqrt(diagonal)
    scaled = scale[:, None] * matrix * scale
    try:
        inverse = lapack.inverse(scaled.copy())
    except np.linalg.LinAlgError:
        return math.inf
    return float(np.abs(scaled).sum(axis=1).max() * np.abs(inverse).sum(axis=1).max())


def by_seconds(seconds: Mapping[str, float], *, exact: bool) -> list[str]:
    """The coarse solvers that may be chosen, fastest first. exact: systems with E have to be solved to rounding."""
    return sorted((name for name in seconds if not (exact and name == "multilevel")), key=lambda name: seconds[name])


def estimated_seconds(
    matrix: sparse.csr_array | PlacedMatrix, parts: Parts | None = None, *, on_host: bool
) -> dict[str, float]:
    """Setup and solves of a run, by coarse solver; on_host: on the cores, else on a GPU."""
    width = half_bandwidth(in_host_memory(matrix)) if parts is None else width_of_boxes(parts)
    return seconds_for(matrix.shape[0], width, on_host=on_host)


def seconds_for(count: int, width: int, *, on_host: bool) -> dict[str, float]:
    """Seconds of setup and solves, by coarse solver, from the number of vectors and the half-bandwidth of E."""
    ratio = count / SPARSE_VECTORS
    seconds = {
        "cholesky": count * width**2 / BAND_FLOPS + SOLVES * 16 * count * width / BAND_BYTES,
        "sparse": SPARSE_SETUP * ratio**2 + SOLVES * SPARSE_SOLVE * ratio ** (4 / 3),
        "multilevel": 0.01 + CYCLE_SETUP * count + SOLVES * CYCLE_SOLVE * count,
    }
    if not on_host and count > MOST_DENSE_ON_GPU:
        # Beyond, one group substitutes, at the speed of one core.
        seconds["cholesky"] *= 10
    return seconds


def width_of_boxes(parts: Parts) -> int:
    """About the half-bandwidth of E with boxes ordered along their longest side: the vectors of a layer across it."""
    return -(-parts.phases.size // max(parts.per_side))


def half_bandwidth(matrix: sparse.csr_array) -> int:
    """The half-bandwidth of E in reverse Cuthill-McKee ordering. Cost: reads the pattern a few times."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    from workbench.devices.host.aggregation import places

    order = reverse_cuthill_mckee(sparse.csr_matrix(matrix), symmetric_mode=True)
    place = places(order).astype(np.int64)
    rows = np.repeat(place, np.diff(matrix.indptr))
    return int(np.abs(rows - place[matrix.indices]).max(initial=0))
