"""CG in the place of `scipy.sparse.linalg.cg`: the same arguments and results, and M and deflation by name.

from workbench.scipy import cg

x, info = cg(A, b, M="ic", deflation="parts:100")
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.sparse import linalg

from workbench.errors import InputError, quoted
from workbench.preconditioners import Preconditioner
from workbench.run import Reason, Run, solve

Given = str | Preconditioner | Callable[[np.ndarray], np.ndarray] | linalg.LinearOperator | np.ndarray | None
"""M, as `workbench.run.solve` takes it."""


@runtime_checkable
class _HasPreconditioner(Protocol):
    """An operator that brings its M, as SciPy's solvers take it."""

    def psolve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        ...


def cg(
    A: object,
    b: object,
    x0: object = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Given = None,
    callback: Callable[[np.ndarray], object] | None = None,
    deflation: object = "none",
    coarse: str = "auto",
    variant: str = "auto",
    device: str = "cpu",
) -> tuple[np.ndarray, int]:
    """Solve A x = b for a Hermitian positive definite A; the arguments are those of SciPy's `cg`.

    A: a sparse or dense matrix, or a LinearOperator. Its attribute `psolve` is M where M is None. b: shape (N,) or
    (N, 1). x0: shape (N,) or (N, 1), or "Mb" for M b. The iteration ends at ||b - A x|| <= max(rtol ||b||, atol),
    which the true residual confirms, or after maxiter iterations, by default 10 N. M: near A^-1, a matrix, a
    LinearOperator, or a name such as "ic" or "neumann:2". callback: called with x after each iteration. deflation: a
    name such as "parts:100", labels or vectors; coarse, variant, device: names, as in `workbench.run.solve`.

    Returns x, shape (N,), and 0 where it converged, else the number of iterations. As in SciPy, A and M are not
    checked for symmetry where only products of them are known. Raises InputError, a ValueError, for what cannot be
    solved.

    Cost: that of `solve`; products with A as in SciPy's `cg`, and one that confirms the end.

    Examples:
        >>> import numpy as np
        >>> from workbench.scipy import cg
        >>> A = 2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1)
        >>> x, info = cg(A, np.ones(50), M="ic")
        >>> info, bool(np.linalg.norm(A @ x - 1) <= 1e-4)
        (0, True)
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, int | float | np.number) or not value >= 0:
            raise InputError(f"{name} must be a number of at least 0, got {quoted(value)}")
    if M is None and isinstance(A, _HasPreconditioner):
        M = A.psolve
    b = _column(b)
    start = _start(x0, M, b)
    norm = float(np.linalg.norm(b))
    if norm == 0:
        return np.zeros_like(b, dtype=np.result_type(b.dtype, np.float32)), 0
    target = max(atol, rtol * norm)
    if math.isinf(target):
        return (np.zeros_like(b) if start is None else start.copy()), 0
    result = solve(
        A,
        b,
        start,
        rtol=0.0,
        atol=target,
        maxiter=10 * b.size if maxiter is None else maxiter,
        M=M,
        deflation=deflation,
        callback=None if callback is None else _following(callback),
        coarse=coarse,
        variant=variant,
        device=device,
        check=False,
    )
    if result.reason is Reason.INDEFINITE:
        raise InputError(f"{result.reason.sentence} ({result.detail})")
    return result.x, 0 if result.converged else max(1, result.iterations)


def _following(callback: Callable[[np.ndarray], object]) -> Callable[[Run], None]:
    """A function of a run that calls the callback with its x. What that returns ends nothing, as in SciPy."""

    def follow(run: Run) -> None:
        callback(run.x)

    return follow


def _column(values: object) -> np.ndarray:
    """A vector of shape (N,), from one of shape (N,) or (N, 1); of floating-point numbers."""
    found = np.asanyarray(values)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    return found if found.dtype.char in "fdFD" else found.astype(float)


def _start(x0: object, M: Given, b: np.ndarray) -> np.ndarray | None:
    """The start, which for "Mb" is M b."""
    if x0 is None or not isinstance(x0, str):
        return None if x0 is None else _column(x0)
    if x0 != "Mb":
        raise InputError(f'x0 must be a vector, "Mb" or None, got {quoted(x0)}')
    if M is None:
        return b
    if isinstance(M, str | Preconditioner):
        raise InputError(f'x0="Mb" needs an M that is a matrix or a function, got {quoted(M)}; leave x0 out')
    return _column(M(b) if isinstance(M, types.FunctionType | types.MethodType) else linalg.aslinearoperator(M) @ b)
