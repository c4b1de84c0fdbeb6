"""What the caller holds in memory, as blocks of a run: a system, a preconditioner, deflation vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from workbench.deflation import Deflation, Subspace, Surroundings, as_subspace
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem


@dataclasses.dataclass(frozen=True)
class GivenProblem(Problem):
    """A and b that the caller holds in memory; it cannot be assembled again from its provenance."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a system given in memory"

    def assemble(self, seed: int = 0) -> LinearSystem:
        raise InputError("this run solved a system held in memory; pass the matrix again, or save it as a .mtx file")


@dataclasses.dataclass(frozen=True)
class GivenPreconditioner(Preconditioner):
    """M^-1 as a function of the caller's that maps r, shape (N,), to M^-1 r. It must be Hermitian positive definite."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a function given in memory"

    action: Callable[[np.ndarray], np.ndarray] = lambda r: r

    def check_symmetric(self, size: int, dtype: np.dtype) -> None:
        """Raise InputError where (M^-1 x, y) and (x, M^-1 y) differ for two random vectors. Costs two calls."""
        rng = np.random.default_rng(0)
        x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
        Mx, My = (np.reshape(self.action(vector), (size,)) for vector in (x, y))
        left, right = np.vdot(Mx, y).item(), np.vdot(x, My).item()
        largest = np.linalg.norm(Mx) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(My)
        if not abs(left - right) <= np.sqrt(np.finfo(dtype).eps) * largest:
            raise InputError(
                f"the preconditioner is not symmetric: (M^-1 x, y) = {left:.6g} and (x, M^-1 y) = {right:.6g} for two "
                "random vectors; CG needs a symmetric positive definite one, or use solver fcg"
            )

    def setup(self, operator: Operator, device: Any) -> Any:
        return device.callable(self.action, operator.shape[0], operator.dtype)


@dataclasses.dataclass(frozen=True)
class GivenDeflation(Deflation):
    """The user's own Z: labels of shape (N,), or vectors of shape (N, d), dense or sparse."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "vectors given in memory"

    vectors: Any = None

    def space(self, given: Surroundings) -> Subspace:
        return as_subspace(self.vectors, given.operator.shape[0])
