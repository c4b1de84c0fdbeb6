"""Five bubbles on a grid small enough for dense algebra: quotients of discs, deflation by some bubbles, and blocks."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
from scipy import linalg

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.problems.bubbles import Bubbles2D
from workbench.records import BlockHistory
from workbench.run import Run, configure, prepare, run_through
from workbench.spectra.convergence_estimates import nonzero

COUNT, CELLS, RADIUS = 5, 24, 0.1
MOST_COLUMNS = 8
KEPT_ITERATIONS = 8
"""Iterations of which `parts` keeps those of the residual."""
TOLERANCE = 1e-6
"""The share of the first error, or of b, that counts as solved."""
CLOSE = 1e-10
"""Runs of deflated CG end at this relative residual, so that their last errors are known to some digits."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rim:
    """The faces between the cells of a set and all others, on an n x n grid.

    ends: of each face, shape (faces, 2, 2), in cells from the middle of the lower left one. cost: the coefficient of
    each, shape (faces,). inner: the sum over the faces within the set, each of which two cells of it have. between:
    the middles of these, shape (faces within, 2).
    """

    ends: np.ndarray
    cost: np.ndarray
    inner: float
    between: np.ndarray

    @property
    def curvature(self) -> float:
        """(v, A v) of the vector that is 1 in the set and 0 elsewhere."""
        return float(self.cost.sum())

    @property
    def diagonal(self) -> float:
        """(v, D v)."""
        return float(self.cost.sum() + 2 * self.inner)

    @property
    def quotient(self) -> float:
        """(v, A v) / (v, D v); NaN for no cell."""
        return self.curvature / self.diagonal if self.diagonal else np.nan


def rim(cells: np.ndarray, light: np.ndarray, ratio: float = 1e-3) -> Rim:
    """The rim of a set of cells. cells, light: shape (n, n), true for those of the set and for those of bubbles.

    A face costs 1 between light cells, `ratio` between heavy ones, and the harmonic mean of both between different
    ones: A has them times 1/h^2.

    Examples:
        >>> import numpy as np
        >>> from workbench.extensions.lessons.bubbles import rim
        >>> square = np.zeros((8, 8), bool)
        >>> square[2:6, 2:6] = True
        >>> found = rim(square, square)
        >>> len(found.cost), found.inner, round(found.quotient, 6)
        (16, 24.0, 0.000665)
    """
    rho = np.where(light, 1.0, 1 / ratio)
    ends, costs, middles, inner = [], [], [], 0.0
    for axis in (0, 1):
        one, other = (np.moveaxis(part, axis, 0) for part in (cells, rho))
        cost = 2 / (other[:-1] + other[1:])
        cut, both = one[:-1] != one[1:], one[:-1] & one[1:]
        inner += float(cost[both].sum())
        costs.append(cost[cut])
        along, across = np.nonzero(cut)
        face = np.stack([np.full((along.size, 2), along[:, None] + 0.5), across[:, None] + np.array([-0.5, 0.5])], 2)
        middle = np.argwhere(both) + np.array([0.5, 0.0])
        # x first: rows of the grid lie along y.
        ends.append(face[:, :, ::-1] if axis == 0 else face)
        middles.append(middle[:, ::-1] if axis == 0 else middle)
    return Rim(np.concatenate(ends), np.concatenate(costs), inner, np.concatenate(middles))


def square_quotient(side: int) -> Rim:
    """The rim of a bubble of side x side cells amid heavy fluid."""
    cells = np.pad(np.ones((side, side), bool), 2)
    return rim(cells, cells)


@dataclasses.dataclass(frozen=True, eq=False)
class FiveBubbles:
    """The system. labels: the number of the bubble of each cell, 0 outside, shape (n, n). A: dense, in units of 1/h^2,
    shape (N, N). centres: in cells, shape (5, 2), x first; radius: in cells."""

    system: LinearSystem
    labels: np.ndarray
    A: np.ndarray
    centres: np.ndarray
    radius: float

    def disc(self, centre: Sequence[float], radius: float) -> np.ndarray:
        """True for the cells whose middle a disc covers, shape (n, n). centre, radius: in cells."""
        y, x = np.indices(self.labels.shape)
        return np.asarray(np.hypot(x - centre[0], y - centre[1]) <= radius)

    def vectors(self, count: int, *, moved: bool = False) -> np.ndarray:
        """Z with a column for each of the first bubbles, shape (N, count). moved: where they were, a cell further
        left."""
        labels = np.roll(self.labels, -1, axis=1) if moved else self.labels
        return np.stack([labels.ravel() == 1 + k for k in range(count)], axis=1).astype(float)


def problem() -> Bubbles2D:
    """Five random bubbles in a square of 24 x 24 cells whose sides are all walls."""
    return Bubbles2D(n=CELLS, layout="random", count=COUNT, radius=RADIUS)


@functools.cache
def five_bubbles() -> FiveBubbles:
    """The system of `problem`. Cost: 3 MB, once.

    Examples:
        >>> from workbench.extensions.lessons.bubbles import five_bubbles
        >>> five_bubbles().labels.max()
        5
    """
    system, geometry = problem().assemble(0), problem().geometry()
    assert system.phase is not None
    A = system.operator.to_csr().toarray() / CELLS**2
    labels = system.phase.reshape(CELLS, CELLS).astype(np.int64)
    return FiveBubbles(system, labels, A, np.asarray(geometry.centres) * CELLS - 0.5, RADIUS * CELLS)


@functools.lru_cache(maxsize=2 * COUNT + 2)
def eigenvalues(count: int, *, moved: bool = False) -> np.ndarray:
    """The positive eigenvalues of M^-1 P A, ascending, with M = D and vectors for the first `count` bubbles.

    Zeros up to rounding are left out: N - 1 - count are left, since constants are one zero of A. Cost: 10 N^3
    operations, 40 ms on a core, once for each.
    """
    bubbles = five_bubbles()
    A = bubbles.A
    if count:
        Z = bubbles.vectors(count, moved=moved)
        AZ = A @ Z
        A = A - AZ @ np.linalg.solve(Z.T @ AZ, AZ.T)
    root = 1 / np.sqrt(bubbles.A.diagonal())
    symmetric = root[:, None] * A * root
    return nonzero(linalg.eigvalsh((symmetric + symmetric.T) / 2))


@functools.lru_cache(maxsize=2 * COUNT + 2)
def errors(count: int, *, moved: bool = False) -> np.ndarray:
    """||x* - x_k||_A over ||x*||_A for each iteration k of deflated CG from zero, with M = D, shape (iterations + 1,).

    From the scalars of the run: ||e_k||_A^2 is the sum of alpha_j (r_j, u_j) over all j >= k (Hestenes and Stiefel
    1952). That of CG without vectors is the measure for all, so that the curve begins below 1 where the coarse solve
    has taken its part. Cost: a solve, once for each.
    """
    found = _errors(count, moved)
    return found / _errors(0, False)[0]


@functools.lru_cache(maxsize=2 * COUNT + 2)
def _errors(count: int, moved: bool) -> np.ndarray:
    bubbles = five_bubbles()
    method = {"deflation": bubbles.vectors(count, moved=moved), "variant": "def1"} if count else {}
    history = prepare(bubbles.system, rtol=CLOSE, **method).solve(bubbles.system.b).history
    decreases = history["alpha"][1:] * history["natural"][:-1] ** 2
    return np.sqrt(np.append(np.cumsum(decreases[::-1])[::-1], 0.0))


@functools.lru_cache(maxsize=MOST_COLUMNS)
def largest_residuals(columns: int) -> np.ndarray:
    """The largest ||r_j||/||b_j|| after each iteration of block CG with M = D and random columns, shape
    (iterations + 1,).

    Cost: a solve, once for each number. Raises InputError for other than 1 to 8 columns.
    """
    if not 1 <= columns <= MOST_COLUMNS:
        raise InputError(f"a block has 1 to {MOST_COLUMNS} columns here, got {columns}")
    chosen = configure(problem(), solver="block-cg", rhs=f"random:{columns}", stopping={"rtol": TOLERANCE})
    history = run_through(Run(chosen)).history
    assert isinstance(history, BlockHistory)
    return np.nanmax(history.columns, axis=1)


def reached(curve: np.ndarray, limit: float = TOLERANCE) -> int:
    """The first iteration at which a curve is at most `limit`; the last one if none is."""
    below = np.flatnonzero(curve <= limit)
    return int(below[0]) if below.size else curve.size - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Parts of residuals in the eigenvectors v_i of M^-1 P A, M-orthonormal, with M = D and N unknowns.

    values: ascending, shape (N,). zeros: how many of the first are zero up to rounding. shares: of iteration k in row
    k, |(v_i, M u_k)| / ||u_k||_M, shape (iterations + 1, N); the sum of their squares is one. of_b:
    the same of M^-1 b, before b is projected, shape (N,).
    """

    values: np.ndarray
    zeros: int
    shares: np.ndarray
    of_b: np.ndarray


@functools.lru_cache(maxsize=COUNT + 1)
def parts(count: int) -> Parts:
    """The parts of CG from zero with vectors for the first `count` bubbles, whose lines are in part 3 of lesson 5.

    Cost: 20 N^3 operations, 0.2 s on a core, once for each.

    Examples:
        >>> from workbench.extensions.lessons.bubbles import parts
        >>> parts(3).zeros
        4
    """
    bubbles = five_bubbles()
    A, D = bubbles.A, bubbles.A.diagonal()
    PA, Pb = A, bubbles.system.b
    if count:
        Z = bubbles.vectors(count)
        AZ = A @ Z
        E = Z.T @ AZ
        PA, Pb = A - AZ @ np.linalg.solve(E, AZ.T), Pb - AZ @ np.linalg.solve(E, Z.T @ Pb)
    root = 1 / np.sqrt(D)
    symmetric = root[:, None] * PA * root
    values, W = linalg.eigh((symmetric + symmetric.T) / 2)
    V = root[:, None] * W
    of_b, *shares = [np.abs(V.T @ r) / np.sqrt(r @ (r / D)) for r in (bubbles.system.b, *_residuals(PA, Pb, D))]
    return Parts(values, values.size - nonzero(values).size, np.array(shares), of_b)


def _residuals(A: np.ndarray, b: np.ndarray, D: np.ndarray) -> list[np.ndarray]:
    """r_0 to r_k of CG (Hestenes and Stiefel 1952) from zero with M = diag(D)."""
    r = b.copy()
    u = r / D
    p, gamma, found = u, r @ u, [r]
    for _ in range(KEPT_ITERATIONS):
        s = A @ p
        alpha = gamma / (p @ s)
        r = r - alpha * s
        u = r / D
        before, gamma = gamma, r @ u
        p = u + gamma / before * p
        found.append(r)
    return found
