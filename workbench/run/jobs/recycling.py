"""Ritz vectors from the search directions of a run, for the deflation of the next run with the same matrix.

After k iterations of CG the vectors u_j = M^-1 r_j span a Krylov space in which alpha and beta give the Lanczos matrix
(Saad 2003, section 6.7.3); its smallest eigenvalues and their Ritz vectors approximate those of M^-1 A, which limit
the convergence of CG.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from workbench.deflation import Deflation, DeflationContext, DenseSubspace
from workbench.deflation.subspace import null_rounding
from workbench.devices.programs.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.registry import parameter, register
from workbench.run.driver import Run
from workbench.solvers.cg import CG

EXHAUSTED = 50
"""No direction is kept once sqrt((r, M^-1 r)) is below this many units of roundoff of its initial value."""
NULL, ROUNDING = 1e-13, 8
"""A Ritz value below this times the largest one belongs to the null space, where b was not in the range of A."""


def lanczos_entries(alpha: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal, shape (k,), and off-diagonal, shape (k - 1,), of the Lanczos matrix of k iterations of CG.

    T_jj = 1/alpha_j + beta_(j-1)/alpha_(j-1), T_(j,j+1) = sqrt(beta_j)/alpha_j (Saad 2003, section 6.7.3). alpha, beta:
    real, shape (k,); the last beta is unused.
    """
    diagonal = 1 / alpha
    diagonal[1:] += beta[:-1] / alpha[:-1]
    return diagonal, np.sqrt(beta[:-1]) / alpha[:-1]


class RitzKeeper:
    """Callback that keeps the search directions of a run and makes Ritz vectors of them, `vectors(count)`.

    most: number of iterations to keep. Memory: one vector each. Source: Saad, Yeung, Erhel, Guyomarc'h, SIAM J. Sci.
    Comput. 21, 2000. Raises InputError for less than 2, and for a run of another method than cg without deflation.

    Examples:
        >>> from workbench.run import RitzKeeper, configure, solve
        >>> system = configure("two-layer", n=16).problem.assemble()
        >>> keeper = RitzKeeper(50)
        >>> first = solve(system.operator, system.b, callback=keeper)
        >>> solve(system.operator, 2 * system.b, deflation=keeper.vectors(4)).iterations < first.iterations
        True
    """

    def __init__(self, most: int = 50) -> None:
        if most < 2:
            raise InputError(f"RitzKeeper keeps at least 2 directions, got {most}")
        self._most = most
        self._basis = _Basis()
        self._workspace: Workspace | None = None

    def before_iterations(self, run: Run) -> None:
        """Keep the direction of the start."""
        self(run)

    def __call__(self, run: Run) -> None:
        if run.setup.projection is not None or run.configuration.solver.name != "cg":
            raise InputError("Ritz vectors are kept of runs of cg without deflation; run it with deflation none")
        workspace = run.workspace
        self._workspace = self._workspace or workspace
        # A restart, which makes a new workspace, starts another Krylov space; a lost device has none.
        if workspace is not None and workspace is self._workspace and len(self._basis.directions) < self._most:
            self._basis.keep(workspace, run.setup.device)

    def vectors(self, count: int) -> np.ndarray:
        """The Ritz vectors of the smallest Ritz values, shape (N, count). Cost: 2 N k count flops for k directions.

        Raises InputError if the run made fewer iterations than `count`.
        """
        return self._basis.ritz_vectors(count)


@register
@dataclasses.dataclass(frozen=True)
class Ritz(Deflation):
    """Ritz vectors of the smallest Ritz values of M^-1 A, recycled from a short run with the same matrix.

    The run is part of the setup, with a random right-hand side and the chosen first level. It ends early where the
    Krylov space is exhausted and where A maps a direction to zero, and may then give fewer vectors than `count`.
    Memory: `steps` vectors during setup, 2 count after. Raises InputError for an indefinite A or M, and if the run ends
    before the first direction.
    """

    name: ClassVar[str] = "ritz"
    title: ClassVar[str] = "Ritz vectors of an earlier run"

    count: int = parameter(8, "Ritz vectors", low=1, high=512, unit="vectors")
    steps: int = parameter(60, "iterations of the earlier run", low=2, high=5000, unit="iterations")

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        return 1

    def check(self, sides: tuple[int, ...]) -> None:
        if self.count >= self.steps:
            raise InputError(
                f"ritz: {self.count} Ritz vectors need more iterations than {self.steps}; raise steps",
                changes={"deflation.steps": self.count + 1},
            )

    def space(self, context: DeflationContext) -> DenseSubspace:
        self.check(context.operator.shape[:1])
        size, dtype = context.operator.shape[0], context.operator.dtype
        b = np.random.default_rng([context.seed, 2]).random(size)
        b, _ = context.null_space.complement(context.device.array(b.astype(dtype), dtype), context.device)
        vectors = {"b": b, "x": context.device.zeros(size, dtype)}
        workspace = context.device.workspace(size, dtype, vectors=vectors, operators={"A": context.A, "M": context.M})
        iterates, basis = CG().iterates(workspace), _Basis()
        for _ in range(self.steps + 1):
            next(iterates)
            if not basis.keep(workspace, context.device):
                break
        _refuse_indefinite(workspace, context, basis)
        if not basis.steps:
            raise InputError(
                f"ritz: the short run ended before its first direction, with {basis.ended}; "
                "use another deflation or none"
            )
        return DenseSubspace(basis.ritz_vectors(min(self.count, max(1, basis.steps - 1))))


def _refuse_indefinite(workspace: Workspace, context: DeflationContext, basis: _Basis) -> None:
    """Raise InputError where the last dot products of a run show that A or M is not positive definite."""
    delta, gamma = (float(np.real(workspace.scalar(name))) for name in ("delta", "gamma"))
    length = np.linalg.norm(basis.directions[-1]) if basis.directions else 0.0
    # Where A maps a direction to zero, the sign of (p, A p) is that of rounding.
    if delta < -null_rounding(context.operator) * length**2:
        what = f"(p, A p) = {delta:.6g}, so the matrix is not positive definite; check the matrix"
    elif gamma < -basis.noise:
        what = f"(r, M^-1 r) = {gamma:.6g}, so the preconditioner is not positive definite; choose another one"
    else:
        return
    raise InputError(f"ritz: in the short run {what}")


class _Basis:
    """Search directions p_j of a run, with alpha_j, beta_j and (r_j, M^-1 r_j)."""

    def __init__(self) -> None:
        self.directions: list[np.ndarray] = []
        self.ended = ""
        """Why no more directions are kept; empty while they are."""
        self.noise = 0.0
        """The size of (r, M^-1 r) that is rounding error."""
        self._gamma: list[float] = []
        self._alpha: list[float] = []
        self._beta: list[float] = []

    @property
    def steps(self) -> int:
        """The number of steps made: the order of the Lanczos matrix."""
        return min(len(self._alpha), len(self.directions))

    def keep(self, workspace: Workspace, device: Device) -> bool:
        """Keep p and the scalars after the start or an iteration. False once no further direction is useful."""
        if not self.ended:
            self._take(workspace, device)
        return not self.ended

    def _take(self, workspace: Workspace, device: Device) -> None:
        gamma = float(np.real(workspace.scalar("gamma")))
        if self.directions:
            alpha, beta = (float(np.real(workspace.scalar(name))) for name in ("alpha", "beta"))
            # The solver skips the step if (p, A p) <= 0: alpha is zero.
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
        from scipy.linalg import eigh_tridiagonal, eigvalsh_tridiagonal

        steps = self.steps
        if not 1 <= count <= steps:
            raise InputError(f"{count} Ritz vectors need {count} iterations, but the run made {steps}; ask for fewer")
        alpha, beta = np.array(self._alpha[:steps]), np.array(self._beta[:steps])
        entries = lanczos_entries(alpha, beta)
        values = eigvalsh_tridiagonal(*entries)
        noise = ROUNDING * float(np.finfo(self.directions[0].dtype).eps)
        null = int(np.count_nonzero(values < max(NULL, noise) * values[-1]))
        first = max(0, min(null, steps - count))
        _, small = eigh_tridiagonal(*entries, select="i", select_range=(first, first + count - 1))
        # The Lanczos vectors are (-1)^j u_j/sqrt(gamma_j), and u_j = p_j - beta_(j-1) p_(j-1).
        of_u = small * ((-1.0) ** np.arange(steps) / np.sqrt(self._gamma[:steps]))[:, None]
        of_p = of_u.copy()
        of_p[:-1] -= beta[:-1, None] * of_u[1:]
        return np.stack(self.directions[:steps], axis=1) @ of_p
