"""When a run ends, and the sentence that says why."""

from __future__ import annotations

import dataclasses
import enum
import math

from workbench.errors import InputError
from workbench.registry import unknown_name
from workbench.run.plain import make_plain


class Norm(enum.StrEnum):
    """What is compared with the tolerance."""

    RESIDUAL = "residual"
    """||r||"""
    PRECONDITIONED = "preconditioned"
    """sqrt((u, u)) with u = M^-1 r"""
    NATURAL = "natural"
    """sqrt((r, u))"""
    ERROR = "error"
    """The A-norm of the error; only where the solution is known. Costs one more product an iteration."""


class Reason(enum.Enum):
    """Why a run ended; the value is the sentence for the user."""

    CONVERGED = "converged: the true residual confirms it"
    CONSISTENT = (
        "converged for b less its mean: A maps constants to zero, so the b that was given has no solution; "
        "the true residual confirms it"
    )
    MAXITER = "not converged: the iteration limit was reached; raise maxiter or choose a stronger preconditioner"
    TIME = "not converged: the time limit was reached; raise it or choose a stronger preconditioner"
    CANCELLED = "stopped by the user"
    INDEFINITE = "broke down: A is not positive definite, which CG needs; check the matrix"
    INDEFINITE_M = (
        "broke down: the preconditioner is not positive definite on this matrix, which CG needs; "
        "choose another one, or check that the matrix is definite"
    )
    NOT_FINITE = "broke down: NaN or infinity appeared; check the matrix and the right-hand side"
    DIVERGED = "diverged: the residual grew without bound; a singular system needs a consistent right-hand side"
    STAGNATED = "stagnated: no progress for many iterations; rounding, or an inconsistent right-hand side, limits it"
    DEVICE_LOST = "not converged: the device failed; restart Python, or use another device"
    INACCURATE = (
        "not converged: the recurrence says so but the true residual does not; "
        "rounding limits the accuracy of this method, so loosen the tolerance or choose another"
    )
    ROUNDING = (
        "broke down: rounding spoiled the recurrence; neither A nor M is shown to be indefinite; "
        "loosen the tolerance, or choose a method that is more accurate, such as cg without deflation"
    )

    OWN_LINES = (
        "broke down: delta = (p, A p) or gamma = (r, M^-1 r) is not positive by these lines; "
        "check them first, then the matrix; rounding may do it too"
    )
    OWN_APART = (
        "not converged: the recurrence says so but the true residual does not; "
        "see whether these lines change x and r alike, else rounding limits them"
    )

    @property
    def sentence(self) -> str:
        return self.value

    @property
    def converged(self) -> bool:
        """The tolerance was met, and the true residual agrees."""
        return self in (Reason.CONVERGED, Reason.CONSISTENT)


@dataclasses.dataclass(frozen=True)
class Stopping:
    """Stop when norm <= max(rtol*||b||, atol), the norm of b being of the same kind.

    For the preconditioned norm ||b|| is sqrt((M^-1 b, M^-1 b)), for the natural norm sqrt((b, M^-1 b)), for the error
    the A-norm of the starting error. maxiter None means 10 N, at least 1000. max_seconds counts iteration time alone.
    stagnation: give up after this many iterations without a new smallest norm. check_every: iterations between two
    looks at the norms where they lie in an accelerator's memory, None for a growing interval; the
    accelerator stops by itself at the iteration that meets the tolerance. true_every: iterations between two true
    residuals b - A x for the history, each one product more that is not counted as iteration time; None for only those
    that confirm convergence. Raises InputError for values out of bounds.
    """

    rtol: float = 1e-6
    atol: float = 0.0
    norm: str = "residual"
    maxiter: int | None = None
    max_seconds: float | None = None
    stagnation: int = 5000
    check_every: int | None = None
    true_every: int | None = None

    def __post_init__(self) -> None:
        make_plain(self)
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a finite number of at least 0, got {value}")
        if self.rtol == 0 and self.atol == 0:
            raise InputError("rtol and atol are both 0, which no iteration can meet; set one of them above 0")
        if self.norm not in tuple(Norm):
            raise InputError(unknown_name("norm", self.norm, [norm.value for norm in Norm]))
        if self.maxiter is not None and self.maxiter < 0:
            raise InputError(f"maxiter must be at least 0, got {self.maxiter}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise InputError(f"max_seconds must be above 0, got {self.max_seconds}")
        if self.stagnation < 1:
            raise InputError(f"stagnation must be at least 1 iteration, got {self.stagnation}")
        if self.check_every is not None and not 1 <= self.check_every <= 10_000:
            raise InputError(f"check_every must be 1 to 10000 iterations, got {self.check_every}")
        if self.true_every is not None and self.true_every < 1:
            raise InputError(f"true_every must be at least 1 iteration, got {self.true_every}")

    def limit(self, unknowns: int) -> int:
        """The iteration limit for N unknowns."""
        return self.maxiter if self.maxiter is not None else max(1000, 10 * unknowns)
