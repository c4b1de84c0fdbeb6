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
