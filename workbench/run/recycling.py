"""Ritz vectors from a run's own directions, to deflate the next run on the same matrix with.

After k iterations of CG the vectors u_j = M^-1 r_j span a Krylov space in which alpha and beta give the Lanczos matrix
(Saad 2003, section 6.7.3); its smallest eigenvalues and their Ritz vectors approximate those of M^-1 A, which is what
slows CG down. Source: Saad, Yeung, Erhel, Guyomarc'h, A deflated version of the conjugate gradient algorithm, SIAM J.
Sci. Comput. 21, 2000.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from workbench.deflation import Deflation, DeflationContext, SpannedBy
from workbench.deflation.subspace import rounding
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.registry import parameter, register
from workbench.run.driver import Run
from workbench.solvers.cg import CG

EXHAUSTED = 50
"""Directions end when sqrt((r, M^-1 r)) has fallen to so many units of rounding of its start: what follows is noise."""


def lanczos_entries(alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal, shape (k,), and off-diagonal, shape (k - 1,), of the Lanczos matrix of k iterations of CG.

    T_jj = 1/alpha_j + beta_(j-1)/alpha_(j-1), T_(j,j+1) = sqrt(beta_j)/alpha_j (Saad 2003, section 6.7.3). alpha, beta:
    real, shape (k,); the last beta is not used.
    """
    diagonal = 1 / alpha
    diagonal[1:] += beta[:-1] / alpha[:-1]
    return diagonal, np.sqrt(beta[:-1]) / alpha[:-1]


class RitzKeeper:
    """Keeps the directions of a run while it goes on: pass it as `callback`, then take `vectors(count)`.

        keeper = RitzKeeper(50)
        solve(A, b, callback=keeper)
        solve(A, another_b, deflation=keeper.vectors(10))

    most: iterations to keep, one vector each. Only runs of cg without deflation have such vectors.
    """

    def __init__(self, most: int = 50) -> None:
        if most < 2:
            raise InputError(f"RitzKeeper keeps at least 2 directions, got {most}")
        self._most = most
        self._basis = _Basis()
        self._workspace: Any = None

    def __call__(self, run: Run) -> None:
        if run.setting.projection is not None or run.configuration.solver.name != "cg":
            raise InputError("Ritz vectors are kept of runs of cg without deflation; run it with deflation none")
        self._workspace = self._workspace or run.workspace
        # A restart begins another Krylov space.
        if len(self._basis.directions) < self._most and run.workspace is self._workspace:
            self._basis.keep(run.workspace, run.setting.device)

    def vectors(self, count: int) -> np.ndarray:
        """The Ritz vectors of the smallest Ritz values, shape (N, count). Cost: 2 N k count flops for k directions.

        Raises InputError when the run made too few iterations.
        """
        return self._basis.ritz_vectors(count)


@register
@dataclasses.dataclass(frozen=True)
class Ritz(Deflation):
    """Ritz vectors of the smallest Ritz values of M^-1 A, recycled from a short run on the same matrix.

    The run takes place in setup, with a random right-hand side and the chosen first level. It ends early where the
    Krylov space does, and where A maps a direction to zero; then there may be fewer vectors than `count`. Memory:
    `steps` vectors during setup, 2 count after. Raises InputError for an A or M that turns out to be indefinite, and
    when the run is over before it has a direction.
    """

    name: ClassVar[str] = "ritz"
    title: ClassVar[str] = "Ritz vectors of an earlier run"

    count: int = parameter(8, "Ritz vectors", low=1, high=512, unit="vectors")
    steps: int = parameter(60, "iterations of the earlier run", low=2, high=5000, unit="iterations")

    def space(self, given: DeflationContext) -> SpannedBy:
        if self.count >= self.steps:
            raise InputError(f"ritz: {self.count} Ritz vectors need more iterations than {self.steps}; raise steps")
        size, dtype = given.operator.shape[0], given.operator.dtype
        b = np.random.default_rng([given.seed, 2]).random(size)
        b = (b - b.mean() if given.singular else b).astype(dtype)
        vectors = {"b": given.device.array(b, dtype), "x": given.device.zeros(size, dtype)}
        workspace = given.device.workspace(size, dtype, vectors=vectors, operators={"A": given.A, "M": given.M})
        iterates, basis = CG().iterates(workspace), _Basis()
        for _ in range(self.steps + 1):
            next(iterates)
            if not basis.keep(workspace, given.device):
                break
        _refuse_indefinite(workspace, given, basis)
        if not basis.steps:
            raise InputError(
                f"ritz: the run that makes the vectors ended at once, with {basis.ended}; use another deflation or none"
            )
        return SpannedBy(basis.ritz_vectors(min(self.count, max(1, basis.steps - 1))))


def _refuse_indefinite(workspace: Any, given: DeflationContext, basis: _Basis) -> None:
    """Raise InputError where the last dot products of a run show that A or M is not positive definite."""
    delta, gamma = (float(np.real(workspace.scalar(name))) for name in ("delta", "gamma"))
    length = np.linalg.norm(basis.directions[-1]) if basis.directions else 0.0
    # Rounding leaves either sign to the energy of a direction that A maps to zero.
    if delta < -rounding(given.operator) * length**2:
        what = f"(p, A p) = {delta:.6g}, so the matrix is not positive definite; check the matrix"
    elif gamma < -basis.noise:
        what = f"(r, M^-1 r) = {gamma:.6g}, so the preconditioner is not positive definite; choose another one"
    else:
        return
    raise InputError(f"ritz: the run that makes the vectors found {what}")


class _Basis:
    """Directions p_j of a run and the scalars that belong to them."""

    def __init__(self) -> None:
        self.directions: list[np.ndarray] = []
        self.ended = ""
        """Why no more directions are taken; empty while they are."""
        self.noise = 0.0
        """(r, M^-1 r) of this size is rounding."""
        self._gamma: list[float] = []
        self._alpha: list[float] = []
        self._beta: list[float] = []

    @property
    def steps(self) -> int:
        """Directions along which the run made a step: the order of its Lanczos matrix."""
        return min(len(self._alpha), len(self.directions))

    def keep(self, workspace: Any, device: Device) -> bool:
        """Take p and the scalars after a start or an iteration. False when nothing of use follows."""
        if not self.ended:
            self._take(workspace, device)
        return not self.ended

    def _take(self, workspace: Any, device: Device) -> None:
        gamma = float(np.real(workspace.scalar("gamma")))
        if self.directions:
            alpha, beta = (float(np.real(workspace.scalar(name))) for name in ("alpha", "beta"))
            # A direction without positive energy takes no step: alpha is zero.
            if not 0 < alpha < math.inf:
                self.ended = f"alpha = {alpha:.3g}"
                return
            self._alpha.append(alpha)
            self._beta.append(beta)
        if not self._gamma:
            self.noise = (EXHAUSTED * float(np.finfo(workspace.dtype).eps)) ** 2 * max(gamma, 0)
        if not self.noise < gamma < math.inf:
            self.ended = f"(r, M^-1 r) = {gamma:.3g}"
            return
        self._gamma.append(gamma)
        self.directions.append(np.array(device.to_host(workspace.vector("p"))))

    def ritz_vectors(self, count: int) -> np.ndarray:
        steps = self.steps
        if not 1 <= count <= steps:
            raise InputError(f"{count} Ritz vectors need as many iterations, but the run kept {steps}")
        alpha, beta = np.array(self._alpha[:steps]), np.array(self._beta[:steps])
        _, small = linalg.eigh_tridiagonal(*lanczos_entries(alpha, beta), select="i", select_range=(0, count - 1))
        # The Lanczos vectors are (-1)^j u_j/sqrt(gamma_j), and u_j = p_j - beta_(j-1) p_(j-1).
        of_u = small * ((-1.0) ** np.arange(steps) / np.sqrt(self._gamma[:steps]))[:, None]
        of_p = of_u.copy()
        of_p[:-1] -= beta[:-1, None] * of_u[1:]
        return np.stack(self.directions[:steps], axis=1) @ of_p
