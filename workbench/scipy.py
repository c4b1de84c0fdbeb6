"""CG in the place of `scipy.sparse.linalg.cg` and `factorized`: their arguments and results, and M and deflation by
name.

from workbench.scipy import cg, factorized

x, info = cg(A, b, M="ic", deflation="parts:100")
solve = factorized(A, M="ic", deflation="parts:100")
x = solve(b)
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import linalg

from workbench.errors import InputError, quoted
from workbench.lazy import at_first_use
from workbench.settings import AUTO, BLOCKS, RUN
from workbench.words.numbers import relative

if TYPE_CHECKING:
    from workbench import preconditioners, run
    from workbench.devices import interchange
    from workbench.devices.accelerator import user_vector
    from workbench.devices.accelerator.user_vector import UserVector
    from workbench.run import Prepared, PreparedResult, Run

    Given = (
        str
        | preconditioners.Preconditioner
        | Callable[[np.ndarray], np.ndarray]
        | linalg.LinearOperator
        | np.ndarray
        | None
    )
    """M, as `workbench.run.solve` takes it."""
else:
    run, preconditioners = map(at_first_use, ("workbench.run", "workbench.preconditioners"))
    interchange = at_first_use("workbench.devices.interchange")
    user_vector = at_first_use("workbench.devices.accelerator.user_vector")

__all__ = ["Factorized", "cg", "factorized"]


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
    deflation: object = BLOCKS["deflation"].default,
    coarse: str = BLOCKS["coarse"].default,
    variant: str = BLOCKS["variant"].default,
    device: str | None = None,
) -> tuple[np.ndarray, int]:
    """Solve A x = b for a Hermitian positive definite A; the arguments are those of SciPy's `cg`.

    A: a sparse or dense matrix, or a LinearOperator. Its attribute `psolve` is M where M is None. b: shape (N,) or
    (N, 1). x0: shape (N,) or (N, 1), or "Mb" for M b, of an M by name that of its first level. The iteration ends at
    ||b - A x|| <= max(rtol ||b||, atol), which the true residual confirms, or after maxiter iterations, by default
    10 N. M: near A^-1, a matrix, a LinearOperator, or a name such as "ic" or "neumann:2". callback: called with x after
    each iteration. deflation: a name such as "parts:100", labels or vectors; coarse, variant, device: names, as in
    `workbench.run.solve`. device: by default the cores, or the CUDA device in whose memory a b of shape (N,) lies.

    Returns x, shape (N,), and 0 where it converged, else the number of iterations. As in SciPy, A and M are not
    checked for symmetry where only products of them are known. Arrays may be of CuPy and other libraries with DLPack;
    x, also for the callback, is of the library of b. Raises InputError, a ValueError, for what cannot be solved.

    Cost: that of `solve`; products with A as in SciPy's `cg`, and one that confirms the end. x0="Mb" with an M by name
    sets M up twice.

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
    given, b = b, _column(b, "b")
    if len(b.shape) == 2:
        raise InputError(
            f"b has shape {b.shape}, and cg takes one right-hand side; use factorized(A)(b), or workbench.run.solve"
        )
    start = _start(A, x0, M, b)
    norm = b.sum_and_norm()[1] if isinstance(b, user_vector.UserVector) else float(np.linalg.norm(b))
    if norm == 0:
        return interchange.returned_as(given, np.zeros(b.size, np.result_type(b.dtype, np.float32))), 0
    target = max(atol, rtol * norm)
    if math.isinf(target):
        return interchange.returned_as(given, np.zeros(b.size, b.dtype) if start is None else np.array(start)), 0
    result = run.solve(
        A,
        _as_given(b),
        _as_given(start),
        rtol=0.0,
        atol=target,
        maxiter=10 * b.size if maxiter is None else maxiter,
        M=M,
        deflation=deflation,
        callback=None if callback is None else _following(callback, given),
        coarse=coarse,
        variant=variant,
        device=device or _device_of(b),
        check=False,
    )
    if result.reason is run.Reason.INDEFINITE:
        raise InputError(f"{result.reason.sentence} ({result.detail})")
    return interchange.returned_as(given, result.x), 0 if result.converged else max(1, result.iterations)


class Factorized:
    """A system that is set up once, in the place of the result of SciPy's `splu`; `factorized` makes one.

    Examples:
        >>> import numpy as np
        >>> from workbench.scipy import factorized
        >>> factorized(np.diag([1.0, 2.0, 4.0])).solve(np.ones(3)).tolist()
        [1.0, 0.5, 0.25]
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        return self._prepared.system.operator.shape

    def __call__(self, b: object) -> np.ndarray:
        """x with A x = b to the tolerance, of the shape and library of b: (N,), or (N, s) column by column.

        Raises InputError where a column does not converge, and for a b of another shape or not finite. Cost: the
        iterations alone.
        """
        result = self._prepared.solve(b)
        if not result.converged:
            raise InputError(_unsolved(result, self._prepared.configuration.stopping.rtol))
        return result.x

    solve = __call__


def factorized(
    A: object,
    *,
    rtol: float = 1e-10,
    maxiter: int | None = None,
    M: Given = AUTO,
    deflation: object = AUTO,
    coarse: str = BLOCKS["coarse"].default,
    variant: str = BLOCKS["variant"].default,
    device: str = RUN["device"].default,
) -> Factorized:
    """Set up a Hermitian positive (semi)definite A once, for many right-hand sides; as SciPy's `factorized` and `splu`.

    A: a sparse or dense matrix, or a LinearOperator; it is copied as far as `workbench.run.prepare` says. M, deflation:
    names such as "ic" and "parts:100", or as in `cg`; by default those that `workbench.run.solve` chooses. Each x has
    ||b - A x|| <= rtol ||b||, after at most maxiter iterations, by default 10 N. Of a singular A b is projected onto
    its range, and x has minimum norm.

    Returns a function of b, shape (N,) or (N, s), whose method `solve` is the same function. Raises InputError as
    `cg`, and for a LinearOperator that is not symmetric.

    Cost: the setup of one solve. Memory: that of M and E, where a factorization of A may have many times the entries
    of A.

    Examples:
        >>> import numpy as np
        >>> from workbench.scipy import factorized
        >>> A = 2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1)
        >>> solve = factorized(A, M="ic")
        >>> [bool(np.linalg.norm(A @ solve(b) - b) <= 1e-9) for b in np.eye(50)[:3]]
        [True, True, True]
    """
    levels = {"M": M, "deflation": deflation, "coarse": coarse, "variant": variant}
    return Factorized(run.prepare(A, rtol=rtol, maxiter=maxiter, device=device, **levels))


def _unsolved(result: PreparedResult, rtol: float) -> str:
    """A sentence on a solve that did not converge."""
    return (
        f"the solve ended at a relative residual of {relative(result.true_relative_residual)}, above rtol {rtol:g}: "
        f"{result.reason.sentence} ({result.detail}); loosen rtol, raise maxiter, or take another M"
    )


def _following(callback: Callable[[np.ndarray], object], given: object) -> Callable[[Run], None]:
    """A function of a run that calls the callback with its x, of the library of b. What that returns ends nothing, as
    in SciPy."""

    def follow(running: Run) -> None:
        callback(interchange.returned_as(given, running.x))

    return follow


def _column(values: object, name: str) -> np.ndarray | UserVector:
    """A vector of shape (N,), from one of shape (N,) or (N, 1); in CUDA memory where it lies there, else of
    floating-point numbers."""
    found = interchange.in_place(values, name)
    if isinstance(found, user_vector.UserVector):
        return found
    found = np.asanyarray(found)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    return found if found.dtype.char in "fdFD" else found.astype(float)


def _as_given(vector: np.ndarray | UserVector | None) -> object:
    """A vector as `solve` takes it."""
    return vector.values if isinstance(vector, user_vector.UserVector) else vector


def _device_of(b: np.ndarray | UserVector) -> str:
    """The name of the device in whose memory b lies."""
    return b.device if isinstance(b, user_vector.UserVector) else RUN["device"].default


def _start(A: object, x0: object, M: Given, b: np.ndarray | UserVector) -> np.ndarray | UserVector | None:
    """The start, which for "Mb" is M b."""
    if x0 is None or not isinstance(x0, str):
        return None if x0 is None else _column(x0, "x0")
    if x0 != "Mb":
        raise InputError(f'x0 must be a vector, "Mb" or None, got {quoted(x0)}')
    if M is None:
        return b
    if isinstance(M, str | preconditioners.Preconditioner):
        return _column(run.prepare(A, M=M, device=_device_of(b)).precondition(_as_given(b)), "x0")
    b = np.asarray(b)
    return _column(M(b) if isinstance(M, types.FunctionType | types.MethodType) else _linear(M) @ b, "x0")


def _linear(M: object) -> linalg.LinearOperator:
    """M as a LinearOperator."""
    return linalg.aslinearoperator(interchange.on_host(M, "M"))
