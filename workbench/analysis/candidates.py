"""Which pairs of levels the advisor tries, and what a pair becomes on a coarser grid."""

from __future__ import annotations

import dataclasses

from workbench import registry
from workbench.errors import InputError
from workbench.problems import LinearSystem, Problem

FIRST_LEVELS = (
    "jacobi",
    "neumann:1",
    "neumann:2",
    "neumann:3",
    "block-ic:8",
    "ic",
    "mic",
    "ssor",
    "chebyshev:3",
    "fsai",
    "amg:sa",
    "amg:rs",
    "amgx",
)
"""What is tried of each first level; names that are not registered are left out."""
MOST_VECTORS = 20_000
FEWEST_CELLS = 4
"""Cells per side of the smallest block that is tried."""
BAND_UP_TO = 1000
"""Vectors up to which E is factored as a band; more come in three dimensions, where a sparse factor fills in less."""


@dataclasses.dataclass(frozen=True, order=True)
class Pair:
    """A first and a second level as block texts, with the coarse solver that suits them, on a device."""

    preconditioner: str
    deflation: str
    coarse: str
    device: str

    @property
    def label(self) -> str:
        parts = [self.preconditioner] + ([self.deflation] if self.deflation != "none" else [])
        return " + ".join([*parts, self.device] if self.device != "cpu" else parts)

    def on_coarser_grid(self, ratio: int) -> Pair | None:
        """The pair whose subdomains have as many cells each on a grid with `ratio` times fewer cells a side; None where
        nothing of them would be left."""
        name, colon, argument = self.deflation.partition(":")
        if not colon:
            return self
        parts = int(argument) // ratio
        return dataclasses.replace(self, deflation=f"{name}:{parts}") if parts >= 1 else None


def pairs(problem: Problem, system: LinearSystem, devices: tuple[str, ...]) -> list[Pair]:
    """All pairs worth a try for this system, on every device."""
    known = registry.registered("preconditioner")
    first = [spec for spec in FIRST_LEVELS if spec.partition(":")[0] in known]
    return [
        Pair(one, two, coarse, device) for device in devices for two, coarse in second_levels(system) for one in first
    ]


def second_levels(system: LinearSystem) -> list[tuple[str, str]]:
    """Second levels and their coarse solvers: none, those of the two-level paper, and blocks of every size."""
    found = [("none", "cholesky")]
    grid = system.grid
    size = system.operator.shape[0]
    sides = grid or (size,)
    if grid is not None and len(grid) > 1:
        found += [("stripes", "cholesky")]
        found += [("planes", "cholesky")] if len(grid) == 3 else []
    parts = 8 if grid is not None else 16
    while parts * FEWEST_CELLS <= min(sides) and parts ** len(sides) <= MOST_VECTORS:
        coarse = "cholesky" if len(sides) < 3 or parts ** len(sides) <= BAND_UP_TO else "sparse"
        found.append((f"blocks:{parts}", coarse))
        if system.phase is not None and grid is not None:
            found.append((f"levelset:{parts}", coarse))
        parts *= 2
    return found


def coarser(problem: Problem, ratio: int) -> Problem | None:
    """The same problem with `ratio` times fewer points per side; None where it has no such number."""
    n = getattr(problem, "n", None)
    if not isinstance(n, int) or n // ratio < 2 * FEWEST_CELLS:
        return None
    try:
        return problem.changed({"n": n // ratio})
    except InputError:
        return None
