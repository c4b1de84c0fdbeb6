"""The time that a search of the advisor may take."""

from __future__ import annotations

import math
import time

from workbench.jit import compile_time as compiling

SOLVES, LEAST = 20, 2.0
"""The default of a matrix without a grid: multiples of the fastest solve so far, and at least these seconds."""


class Budget:
    """The seconds that a search has, from now on, without the compilation of kernels by this thread.

    seconds: infinity for no limit, None for `SOLVES` times the fastest solve, without a limit until one has converged.

    Examples:
        >>> from workbench.advise.budget import Budget
        >>> budget = Budget(None)
        >>> budget.note(3.0)
        >>> budget.seconds, 59 < budget.left <= 60
        (60.0, True)
    """

    def __init__(self, seconds: float | None = math.inf) -> None:
        self._given, self._fastest, self._begun = seconds, math.inf, _clock()

    def note(self, seconds: float) -> None:
        """Take notice of a solve that converged in these seconds."""
        self._fastest = min(self._fastest, seconds)

    @property
    def seconds(self) -> float:
        """All of the budget, as far as is known."""
        return max(LEAST, SOLVES * self._fastest) if self._given is None else self._given

    @property
    def left(self) -> float:
        """The seconds that are left; 0 or below once it is spent."""
        return self.seconds - (_clock() - self._begun)


def _clock() -> float:
    return time.perf_counter() - compiling.spent()
