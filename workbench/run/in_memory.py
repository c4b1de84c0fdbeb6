"""In-memory inputs as blocks of a run: a system, a preconditioner, deflation vectors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from workbench.arrays import HostFunction, common_dtype, finite_block, finite_vector, matvec_function, working_dtype
from workbench.deflation import Deflation, DeflationContext, Subspace, as_subspace
from workbench.devices.protocol import Device
from workbench.errors import InputError, quoted
from workbench.operators import BoundOperator, Matrix, Operator, as_operator
from workbench.operators.matrix import check_indices
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.registry import as_block


@dataclasses.dataclass(frozen=True)
class InMemoryProblem(Problem):
    """A and b given in memory, which provenance cannot reproduce."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a system given in memory"

    def assemble(self, seed: int = 0) -> LinearSystem:
        raise InputError("this run solved a system given in memory; pass the matrix again, or save it as a .mtx file")


@dataclasses.dataclass(frozen=True)
class InMemoryPreconditioner(Preconditioner):
    """M^-1 as a user-supplied function that maps r, shape (N,), to M^-1 r; M must be Hermitian positive definite.

    linear: a SciPy LinearOperator that is used instead of `action`.
    """

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a function given in memory"
    follows_scale: ClassVar[bool] = False

    action: Callable[[np.ndarray], Any] = lambda r: r
    linear: linalg.LinearOperator | None = None

    def function(self, size: int, dtype: np.dtype) -> HostFunction:
        """M^-1 on vectors of a system, with checks of the returned vectors."""
        if self.linear is not None:
            return matvec_function(self.linear, "M", dtype)
        return HostFunction("M", self.action, size, dtype)

    def check_symmetric(self, size: int, dtype: np.dtype) -> None:
        """Raise InputError if (M^-1 x, y) and (x, M^-1 y) differ for two random vectors. Costs two applications."""
        rng = np.random.default_rng(0)
        x, y = (rng.standard_normal(size).astype(dtype) for _ in range(2))
        if dtype.kind == "c":
            x, y = (vector + 1j * rng.standard_normal(size).astype(dtype) for vector in (x, y))
        function = self.function(size, dtype)
        # The function may return the same buffer each time.
        Mx, My = (np.array(function(vector)) for vector in (x, y))
        left, right = np.vdot(Mx, y).item(), np.vdot(x, My).item()
        largest = np.linalg.norm(Mx) * np.linalg.norm(y) + np.linalg.norm(x) * np.linalg.norm(My)
        if not abs(left - right) <= np.sqrt(np.finfo(dtype).eps) * largest:
            raise InputError(
                f"the preconditioner is not symmetric: (M^-1 x, y) = {left:.6g} and (x, M^-1 y) = {right:.6g} for two "
                "random vectors; CG needs a symmetric positive definite M, or use solver fcg"
            )

    def times(self, factor: float) -> InMemoryPreconditioner:
        """M^-1 times a number."""
        if self.linear is not None:
            return dataclasses.replace(self, linear=factor * self.linear)
        action = self.action
        return dataclasses.replace(self, action=lambda r: factor * np.asarray(action(r)))

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        size, dtype = operator.shape[0], operator.dtype
        return device.callable(self.function(size, dtype), size, dtype)


def as_preconditioner(M: Any, size: int) -> Preconditioner:
    """M for N = `size` unknowns: a name, a block, None for none, a function, or a LinearOperator or matrix near A^-1.

    Raises InputError for other types, and for a matrix or LinearOperator of another shape.
    """
    if M is None or isinstance(M, (str, Preconditioner)):
        return cast(Preconditioner, as_block("preconditioner", "none" if M is None else M))
    if isinstance(M, linalg.LinearOperator) or sparse.issparse(M) or isinstance(M, np.ndarray):
        if M.shape != (size, size):
            raise InputError(f"M has shape {M.shape}, but the matrix has {size} rows; M must be {size} x {size}")
        if isinstance(M, np.ma.MaskedArray):
            raise InputError("M is a masked array; fill the masked entries: M.filled(value)")
        if not isinstance(M, linalg.LinearOperator):
            working_dtype(M.dtype, "M")
        if sparse.issparse(M):
            check_indices(M, "M")
        return InMemoryPreconditioner(linear=linalg.aslinearoperator(M))
    if callable(M):
        return InMemoryPreconditioner(M)
    raise InputError(
        f"M must be the name of a preconditioner, a function, a LinearOperator or a matrix, got {quoted(M)}"
    )


def as_deflation(Z: Any) -> Deflation:
    """A second level: a name, a block, None for none, or user-supplied Z."""
    if Z is None or isinstance(Z, (str, Deflation)):
        return cast(Deflation, as_block("deflation", "none" if Z is None else Z))
    return InMemoryDeflation(Z)


def has_columns(b: Any) -> bool:
    """Whether b is a matrix of several right-hand sides; (N, 1) is one."""
    shape = getattr(b, "shape", None)
    return shape is not None and len(shape) == 2 and shape[1] != 1


def system_of(A: Any, b: Any, x0: Any = None, kind: type[Matrix] = Matrix) -> tuple[LinearSystem, np.ndarray | None]:
    """A x = b and x0 in their common dtype, as SciPy promotes them; a note of the system records a promotion.

    b, x0: shape (N,), or (N, s), dense or sparse, for many right-hand sides.

    kind: the class of matrices. A float32 matrix with a float64 b gives a float64 system, a real matrix with a complex
    b or x0 a complex one. Raises InputError as `as_operator` and `workbench.arrays.finite_vector` do.
    """
    operator = as_operator(A, kind)
    size, finite = operator.shape[0], finite_block if has_columns(b) else finite_vector
    b = finite(b, "b", size)
    x0 = None if x0 is None else finite(x0, "x0", size)
    dtype = common_dtype(operator.dtype, *(b,) if x0 is None else (b, x0))
    notes = ()
    if dtype != operator.dtype:
        notes = (f"A is {operator.dtype}, but b or x0 is not: the system was promoted to {dtype}",)
        operator = operator.astype(dtype)
    return LinearSystem(operator, b.astype(dtype, copy=False), notes=notes), x0


@dataclasses.dataclass(frozen=True)
class InMemoryDeflation(Deflation):
    """User-supplied Z: labels of shape (N,), or vectors of shape (N, d), dense or sparse."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "vectors given in memory"

    vectors: Any = None

    def space(self, context: DeflationContext) -> Subspace:
        return as_subspace(self.vectors, context.operator.shape[0])
