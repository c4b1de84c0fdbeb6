"""What a solver is: a registered block that holds a recurrence as paper lines, one `yield` per iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

from workbench.blocks import Block


@dataclasses.dataclass(frozen=True)
class Solver(Block):
    """Base of all solvers.

    A solver sees a workspace with the vectors `b` and `x` (the initial guess, overwritten by the iterates) and the
    operators `A` and `M`, and nothing else: no tolerance, no clock, no device. It yields once after the start and once
    per iteration. By then the scalars below are up to date, in the notation of docs/notation.md:
    rr = (r, r), gamma = (r, u), uu = (u, u) with u = M^-1 r, alpha, beta, and delta = (p, A p), which is not positive
    when the method has broken down; x then still holds the last good iterate.
    """

    kind: ClassVar[str] = "solver"
    start: ClassVar[str] = ""
    """Paper lines before the loop."""
    iterate: ClassVar[str] = ""
    """Paper lines of one iteration."""

    alike: ClassVar[bool] = True
    """Every iteration launches the same, so that a device may record some and repeat them without asking; False for a
    solver whose `iterates` decides anything by itself."""
    measures_energies: ClassVar[bool] = True
    """Whether delta and gamma are dot products of p and r with products A p and M^-1 r; False where one of these comes
    from a recurrence, so that rounding alone may make it negative. Then the driver measures both before it blames the
    matrix."""
    direction: ClassVar[str] = "p"
    """The direction that delta belongs to, as a formula of what an iteration that broke down leaves behind."""
    restarts: ClassVar[int] = 0
    """How often the driver may begin anew from b - A x when that and the recurrence have parted. A restart makes
    another method of a method, and would hide how accurate it is."""

    def texts(self, workspace: Any) -> tuple[str, str]:
        """`start` and `iterate` as they suit a workspace; a method may need fewer vectors where M is a formula."""
        return self.start, self.iterate

    def iterates(self, workspace: Any) -> Iterator[None]:
        """The recurrence on a workspace, without end. Its lines are compiled here, before the first `next`."""
        start, iterate = workspace.lines(*self.texts(workspace))

        def recurrence() -> Iterator[None]:
            start()
            yield
            while True:
                iterate()
                yield

        return recurrence()
