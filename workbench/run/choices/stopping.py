"""Stopping criteria, and the reasons why a run ended."""

from __future__ import annotations

import dataclasses
import enum
import math
import os
from collections.abc import Mapping
from typing import Any

from workbench.errors import RUN_SECONDS, InputError
from workbench.process import limits
from workbench.registry import unknown_name
from workbench.settings import STOPPING, Norm, check_settings

__all__ = ["Norm", "Reason", "Stopping"]


class Reason(enum.Enum):
    """Why a run ended, as a sentence for the user.

    Examples:
        >>> from workbench.run import Reason
        >>> Reason.CONVERGED.sentence, Reason.MAXITER.converged
        ('converged, verified by the true residual', False)
    """

    CONVERGED = "converged, verified by the true residual"
    CONSISTENT = (
        "converged for the part of b in the range of A: A is singular, so the given b has no solution; "
        "verified by the true residual"
    )
    MAXITER = "not converged: the iteration limit was reached; raise maxiter or choose a stronger preconditioner"
    TIME = "not converged: the time limit was reached; raise max_seconds or choose a stronger preconditioner"
    PAGE_TIME = (
        "not converged: the time limit of this page was reached; choose a stronger preconditioner or a smaller problem"
    )
    CANCELLED = "stopped by the user"
    CALLBACK = "stopped by the callback"
    INDEFINITE = "broke down: A is not positive definite, which CG needs; check the matrix"
    INDEFINITE_M = (
        "broke down: the preconditioner is not positive definite on this matrix, which CG needs; "
        "choose another one, or check that the matrix is definite"
    )
    NOT_FINITE = "broke down: NaN or infinity appeared; check the matrix and the right-hand side"
    DIVERGED = "diverged: the residual grew without bound; a singular system needs a consistent right-hand side"
    STAGNATED = (
        "stagnated: no new smallest norm within the stagnation limit; rounding or an inconsistent right-hand side "
        "limits the accuracy"
    )
    FAILED = "not solved: an error ended the run"
    DEVICE_LOST = (
        "not converged: a device or a process of the run failed; run again, on another device where one does not answer"
    )
    INACCURATE = (
        "not converged: the recurrence residual meets the tolerance, the true residual does not; "
        "rounding limits the accuracy of this method, so loosen the tolerance or choose another method"
    )
    ROUNDING = (
        "broke down: rounding errors dominate the recurrence, neither A nor M was found indefinite; "
        "loosen the tolerance, or choose another preconditioner"
    )
    VANISHED = (
        "broke down: a product of this method that is not conjugated, (conj(r), M^-1 r) or (conj(p), A p), is zero, "
        "which happens for vectors that are not; start from another x0"
    )
    INCONSISTENT = (
        "not converged: A seems to be singular and b not in its range; give the null vectors of A as nullspace= "
        "of solve, or a consistent right-hand side"
    )
    OWN_LINES = (
        "broke down: delta = (p, A p) or gamma = (r, M^-1 r) is not positive in this user-defined method; "
        "check its lines first, then the matrix; rounding can cause it too"
    )
    OWN_APART = (
        "not converged: the recurrence residual meets the tolerance, the true residual does not; "
        "check that the lines of this user-defined method update x and r consistently; otherwise rounding limits it"
    )

    @property
    def sentence(self) -> str:
        """The reason as a sentence."""
        return self.value

    def begins(self, sentence: str) -> bool:
        """True if a sentence of a result gives this reason; the text after the first colon is not compared."""
        return sentence.startswith(self.value.partition(":")[0])

    @property
    def converged(self) -> bool:
        """The tolerance is met, verified by the true residual."""
        return self in (Reason.CONVERGED, Reason.CONSISTENT)


@dataclasses.dataclass(frozen=True)
class Stopping:
    """Stop at norm <= max(rtol ||b||, atol), the norm of b being of the same kind.

    For the preconditioned norm ||b|| is sqrt((M^-1 b, M^-1 b)), for the natural norm sqrt((b, M^-1 b)), for the error
    the A-norm of the initial error. maxiter None means 10 N, at least 1000. max_seconds limits the iteration time
    alone. stagnation: iterations without a new smallest norm after which the run ends. check_every: iterations between
    two convergence checks where the norms lie in an accelerator's memory, None for an adaptive interval; the
    accelerator itself ends at the iteration that meets the tolerance. true_every: iterations between two true residuals
    b - A x in the history, each costing one matrix-vector product that is not counted as iteration time; None computes
    only those that confirm convergence. Raises InputError for values out of the bounds in `workbench.settings`.

    Examples:
        >>> from workbench.run import Stopping
        >>> Stopping(rtol=1e-8).changed({"norm": "natural"}).limit(unknowns=256)
        2560
    """

    rtol: float = STOPPING["rtol"].default
    atol: float = STOPPING["atol"].default
    norm: str = STOPPING["norm"].default
    maxiter: int | None = STOPPING["maxiter"].default
    max_seconds: float | None = STOPPING["max_seconds"].default
    stagnation: int = STOPPING["stagnation"].default
    check_every: int | None = STOPPING["check_every"].default
    true_every: int | None = STOPPING["true_every"].default

    def __post_init__(self) -> None:
        check_settings(self, STOPPING)
        if self.rtol == 0 and self.atol == 0:
            raise InputError("rtol and atol are both 0, which no iteration can meet; set one of them above 0")

    def changed(self, values: Mapping[str, Any]) -> Stopping:
        """A copy with the named criteria replaced. Raises InputError for unknown names and wrong values."""
        for name in values:
            if name not in STOPPING:
                raise InputError(unknown_name("stopping criterion", name, STOPPING))
        return dataclasses.replace(self, **values)

    @property
    def time_limit(self) -> tuple[float, Reason, str]:
        """Seconds that a run may iterate for, why it ends then, and a clause on where that is from.

        A page has a limit of its own (`RUN_SECONDS`), which holds where it is less than max_seconds.
        """
        page = limits.page_seconds(os.environ.get(RUN_SECONDS, ""))
        own = math.inf if self.max_seconds is None else self.max_seconds
        if own < page:
            return own, Reason.TIME, ""
        return page, Reason.PAGE_TIME, f" of {page:g} s, which holds for all pages of its server"

    def limit(self, unknowns: int) -> int:
        """The iteration limit for N unknowns."""
        return self.maxiter if self.maxiter is not None else max(1000, 10 * unknowns)
