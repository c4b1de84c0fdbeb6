"""Base class of methods for many right-hand sides, and the report of one after every iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.devices.programs.block_workspace import BlockProgram, BlockWorkspace
from workbench.devices.programs.workspace import Workspace
from workbench.lines.edit import added
from workbench.lines.schedule import Inlined
from workbench.lines.types import small
from workbench.registry import parameter
from workbench.solvers.base import Solver


@dataclasses.dataclass(frozen=True, eq=False)
class BlockRow:
    """The state after the start, or after an iteration, by column of B.

    norms, shape (s,): ||r_j||. gamma, shape (s,): (r_j, M^-1 r_j), negative where M is not positive definite, and its
    modulus where products are not conjugated. preconditioned, shape (s,): ||M^-1 r_j||,
    where the workspace asks for all norms. rank: columns that the search directions span. pivot: the smallest over the
    largest pivot of the factorization that decided the rank, NaN without one. curvature: what a positive definite A
    makes positive: the smallest eigenvalue of P^H A P scaled to a unit diagonal, or the smallest (p_j, A p_j); 1 where
    a factorization succeeded. alpha, beta, shape (s,): those of CG, where the method has them for every column.
    breakdown: a sentence where the method cannot continue, else empty.
    """

    norms: np.ndarray
    gamma: np.ndarray
    rank: int
    pivot: float = np.nan
    preconditioned: np.ndarray | None = None
    curvature: float = 1.0
    alpha: np.ndarray | None = None
    beta: np.ndarray | None = None
    breakdown: str = ""


SCALARS = ("rr", "gamma", "uu", "delta", "alpha", "beta")


@dataclasses.dataclass(frozen=True)
class BlockSolver(Solver):
    """Base of methods on block vectors (N, s).

    A method operates on a `BlockWorkspace` with the block vectors B and X (the initial guess, overwritten by the
    iterates) and the operators A and M, and reports a `BlockRow` after the start and after every iteration.

    replace: iterations after which R = B - A X takes the place of the recurrence, and the directions are kept: one more
    application of A there. It bounds the residual gap, and thus the attainable accuracy, by the rounding of one
    product; near that accuracy it may delay convergence. Source: van der Vorst and Ye 2000, at fixed intervals.
    """

    uniform_iterations: ClassVar[bool] = False
    same_work: ClassVar[bool] = False
    takes_blocks: ClassVar[bool] = True
    accepts_unsymmetric_m: ClassVar[bool] = False
    """True if several columns converge with a second level whose M^-1 is not Hermitian."""

    replace: int = parameter(0, "iterations between two recomputations of R = B - A X; 0 for never", low=0, high=10**6)

    @property
    def spec(self) -> str:
        """The name alone where R is never recomputed."""
        return self.text

    def replaces(self, iteration: int) -> bool:
        """True if R is recomputed in an iteration, the first being 1."""
        return self.replace > 0 and iteration % self.replace == 0

    scratch: ClassVar[str] = "S"
    """A block vector that every iteration overwrites before it is read, so that measurements may use it between two."""

    def block_iterates(self, space: BlockWorkspace, frozen: np.ndarray) -> Iterator[BlockRow]:
        """The infinite recurrence. frozen, shape (s,), bool: columns whose X is to stay; set by the caller."""
        raise TypeError(f"solver {self.name} does not implement block_iterates")

    def iterates(self, workspace: Workspace) -> Iterator[None]:
        """The recurrence for a single right-hand side, as blocks of one column, with the scalars that solvers have."""
        space = _one_column(workspace)
        workspace.declare(*SCALARS)
        # Compiles what sets a scalar, as part of the setup.
        workspace.set_scalar("rr", 0)
        rows = self.block_iterates(space, np.zeros(1, bool))

        def recurrence() -> Iterator[None]:
            while True:
                _publish(next(rows), workspace, space)
                yield

        return recurrence()


class ResidualNorms:
    """The norms of methods that store R and U = M^-1 R and compute rr = dots(R, R).

    Cost: nothing, or one pass over U where the workspace wants all norms.
    """

    def __init__(self, space: BlockWorkspace) -> None:
        self._matrices = space.matrices
        self._squares = space.lines("uu = dots(U, U)")[0] if space.all_norms else None

    def row(self, gamma: np.ndarray, rank: int) -> BlockRow:
        """The row of an iteration. gamma, shape (s,): as in `BlockRow`."""
        preconditioned = None
        if self._squares is not None:
            self._squares()
            preconditioned = self._roots("uu")
        return BlockRow(self._roots("rr"), gamma, rank, preconditioned=preconditioned)

    def _roots(self, name: str) -> np.ndarray:
        return np.sqrt(np.maximum(np.real(self._matrices[name]), 0))


REPLACEMENT = """\
U = A(X)
R = R*kept + B*renewed - U*renewed
"""


class Replacement:
    """The update of methods that store R and U = M^-1 R, with and without R = B - A X behind its recurrence.

    Columns whose X is frozen keep the R that other columns need. before: lines in front of an update that recomputes R.
    """

    def __init__(
        self, solver: BlockSolver, space: BlockWorkspace, update: str, frozen: np.ndarray, before: str = ""
    ) -> None:
        self._solver, self._space, self._frozen, self._iteration = solver, space, frozen, 0
        shape = small(1, space.columns)
        replacing = (before + added(update, {"R": REPLACEMENT}),) if solver.replace else ()
        self.texts = (update, *replacing)
        self.shapes = {"kept": shape, "renewed": shape}

    def __call__(self, update: BlockProgram, *replacing: BlockProgram) -> bool:
        """Run the one or the other, as compiled of `texts`; True if R was recomputed."""
        self._iteration += 1
        if not self._solver.replaces(self._iteration):
            update()
            return False
        self._space.matrices["kept"] = self._frozen.astype(float)
        self._space.matrices["renewed"] = 1.0 - self._frozen
        replacing[0]()
        return True


def is_plain(space: BlockWorkspace) -> bool:
    """True if M is the identity."""
    M = space.operators["M"]
    return isinstance(M, Inlined) and M.formula == "v"


def _one_column(workspace: Workspace) -> BlockWorkspace:
    device = workspace.device
    vectors = {
        name.upper(): device.as_block(vector) for name, vector in workspace.vectors.items() if name in ("b", "x")
    }
    return BlockWorkspace(
        device,
        workspace.size,
        1,
        workspace.dtype,
        vectors=vectors,
        operators=workspace.operators,
        clock=workspace.clock,
        all_norms=True,
    )


def _publish(row: BlockRow, workspace: Workspace, space: BlockWorkspace) -> None:
    """The scalars of a row, and the vectors that a diagnosis or a snapshot reads."""
    values = {
        "rr": row.norms[0] ** 2,
        "gamma": row.gamma[0],
        "uu": np.nan if row.preconditioned is None else row.preconditioned[0] ** 2,
        "delta": 0.0 if row.breakdown else row.curvature,
        "alpha": np.nan if row.alpha is None else row.alpha[0],
        "beta": np.nan if row.beta is None else row.beta[0],
    }
    for name, value in values.items():
        workspace.set_scalar(name, value)
    for name in ("P", "R", "U", "Q"):
        if name in space.vectors and name.lower() not in workspace.vectors:
            workspace.vectors[name.lower()] = space.device.as_vector(space.vectors[name])
