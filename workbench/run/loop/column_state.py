"""The state of a right-hand side in the stopping test."""

from __future__ import annotations

import dataclasses
import math

from workbench.run.choices.stopping import Reason
from workbench.words.numbers import number, relative

FAR = 10
"""A start is far off if its residual is at least this many times ||b||, the residual of zero."""
DIVERGENCE = 1e12
"""A run has diverged at a norm this many times max(||b||, initial norm): in CG it may grow by sqrt(cond) first."""


@dataclasses.dataclass(eq=False, slots=True)
class ColumnState:
    """A right-hand side and its stopping criterion. Norms are those of the scaled system.

    scale: the reference of rtol. verifiable: the rounding error of b - A x, which in a system of a few unknowns may be
    computed as exactly zero though x is correct only to rounding. tolerance: the norm at which it has converged.
    confirm_below: that at which its true residual is measured next. divergence: above which it has diverged. removed:
    the norm of the component removed from b. norm: of the last row, or of its end. first, first_residual: of the start.
    reason, iteration: its end; None while it is active.
    """

    place: int
    scale: float
    norm_of_b: float
    verifiable: float
    tolerance: float
    removed: float
    confirm_below: float
    divergence: float = math.inf
    norm: float = math.inf
    first: float = 0.0
    first_residual: float = 0.0
    reason: Reason | None = None
    iteration: int = 0

    def begin(self, norm: float, residual: float) -> None:
        """Note the norm and ||r|| of the start."""
        self.first, self.first_residual = norm, residual
        self.divergence = DIVERGENCE * max(self.scale, norm)

    @property
    def has_converged(self) -> bool:
        return self.reason is not None and self.reason.converged

    def far_start(self, tolerance: float, eps: float) -> str:
        """A clause for a start so far off that rounding of its residual exceeds the tolerance; empty for any other.

        tolerance: of ||r||. eps: the roundoff of b.
        """
        first, norm_of_b = self.first_residual, self.norm_of_b
        if not eps * first > tolerance or not first > FAR * norm_of_b > 0:
            return ""
        return (
            f"; x0 is too far off: ||b - A x0|| is {relative(first / norm_of_b)} of ||b||, and rounding keeps about "
            f"{number(eps, 1)} of that; start from x0 = 0"
        )

    def bound(self, measured: float) -> float:
        """An upper bound of ||b - A x||, for a measured one: rounding of b - A x included."""
        return max(measured, self.verifiable)

    def in_words(self, measured: float, of: str = "||b||") -> str:
        """A measured ||b - A x|| over ||b||."""
        share = f"{relative(self.relative(self.bound(measured)))} of {of}"
        return share if measured >= self.verifiable else f"below {share}, less than rounding lets one verify"

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return float(norm) / self.norm_of_b if self.norm_of_b > 0 else norm

    def relative_to_given(self, true_residual: float) -> float:
        """||b - A x||/||b|| for the b that was given, of whose changed component x takes no part."""
        given = math.hypot(self.norm_of_b, self.removed)
        return math.hypot(true_residual, self.removed) / given if given > 0 else true_residual
