"""Precision mixed: a recurrence whose vectors are stored in single precision, with x and all arithmetic in double.

A recurrence in single precision drifts from b - A x, so r is replaced by b - A x in double precision at intervals and
keeps its direction: every time ||r|| has fallen by a thousand, and at least every ten iterations. The coefficients of A
are exact, the true residual reaches what double precision reaches, and w, p, q and r take half of the memory traffic.

Source: van der Vorst and Ye 2000 (residual replacement).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.clock import Clock
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows
from workbench.run.choices.stopping import Norm
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.single.recurrence import Recurrence
from workbench.run.setup.solve_setup import SolveSetup

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


INTERVAL = 10
"""Iterations between two replacements of r, at most."""
FIRST_INTERVAL = 4
"""Iterations before the first check, at most: until then the device does not know where to stop."""
REDUCTION = 1e-3
"""The reduction of ||r|| from its largest value since the last replacement at which r is replaced: of the seven digits
of single precision the direction needs three, and an iteration may reduce ||r|| by another factor of ten."""
REPLACE = "r = b - w"
"""w is A x."""
CORRECT = "x = x + p"
"""p is Q r, until the first direction takes its place."""


class MixedRecurrence(Recurrence):
    """The recurrence with vectors in single precision. measures: where A x is computed, in double precision."""

    def __init__(
        self, setup: SolveSetup, norm: Norm, check_every: int | None, clock: Clock | None, measures: Diagnostics
    ):
        self._measures = measures
        self._since = 0
        """Iterations since the last replacement."""
        self._square_now = self._largest_square = 0.0
        """||r||^2 after the last iteration, and the largest since the last replacement; 0 before the first."""
        super().__init__(setup, norm, check_every, clock)

    @property
    def longest_interval(self) -> int:
        """The iterations until the next replacement, at most."""
        left = FIRST_INTERVAL if not self._largest_square else INTERVAL if self._is_due else INTERVAL - self._since
        return min(super().longest_interval, left)

    def advance(self, count: int, below: float, above: float, iteration: int) -> tuple[Rows, float]:
        """As in `Recurrence`; the device also stops where r is to be replaced, however late the host reads norms."""
        reference = self._square_now if self._is_due else self._largest_square
        return super().advance(count, max(below, REDUCTION * math.sqrt(reference)), above, iteration)

    def _made_workspace(self, clock: Clock | None) -> Workspace:
        return mixed_workspace(self._setup, self._measures.residual, clock)

    def _iterates(self) -> Iterator[None]:
        space, solver = self.workspace, self._setup.solver
        # The lines of an iteration come last: a watch repeats the last program.
        (self._take,) = space.lines(REPLACE)
        correction = space.lines(CORRECT)[0] if _corrects(self._setup) else None
        lines = solver.from_residual, solver.iterate

        def start() -> None:
            self.replace_residual()
            if correction:
                assert self._setup.projection is not None
                self._setup.projection.add_correction(space.vector("p"), space.vector("r"))
                correction()
                self.replace_residual()

        return solver.recurrence(*space.lines(*lines), before=start)

    @property
    def _is_due(self) -> bool:
        fallen = self._square_now <= REDUCTION**2 * self._largest_square
        return self._since >= INTERVAL or (fallen and self._since > 0)

    def _before(self) -> None:
        if self._is_due:
            self.replace_residual()
            self._since, self._largest_square = 0, self._square_now

    def _after(self, rows: Rows) -> None:
        squares = [rows.scalar(place, "rr") for place in range(rows.count)]
        self._since += rows.count
        self._square_now, self._largest_square = squares[-1], max(self._largest_square, *squares)

    def replace_residual(self) -> None:
        """r = b - A x."""
        self._measures.make_product()
        self._take()


def mixed_workspace(setup: SolveSetup, product: DeviceVector, clock: Clock | None = None) -> Workspace:
    """A workspace for a setup in precision mixed. product: for A x in double precision."""
    device, size = setup.device, setup.b.size
    vectors = {"b": setup.b, "x": setup.x, "w": product, "r": device.zeros(size, setup.stored)}
    vectors |= {"p": device.zeros(size, setup.stored)} if _corrects(setup) else {}
    operators = {"A": setup.A, "M": setup.M}
    dtype = np.dtype(setup.b.dtype)
    return device.workspace(size, dtype, vectors=vectors, operators=operators, clock=clock, stored=setup.stored)


def _corrects(setup: SolveSetup) -> bool:
    """True if the variant starts from x + Q (b - A x)."""
    return setup.projection is not None and setup.variant.projects_start
