"""Candidate pairs of preconditioner and deflation space for the advisor, and their counterparts on coarser grids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from workbench.errors import InputError
from workbench.operators import Stencil, TwoPhaseStencil
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.registry import blocks as registry
from workbench.settings import MIXED, RUN
from workbench.words.names import method_code, method_name, run_parts

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
    "mg",
)
"""First-level candidates of the core; those of extensions follow."""
IN_MIXED = ("neumann:1", "neumann:2", "mg")
"""First levels that are also tried in precision mixed, with the coarse solvers that bear it, for two phases."""
MAX_VECTORS = {1: 20_000, 2: 20_000, 3: 3_000_000}
"""Subdomains of a candidate, by dimensions."""
MIN_CELLS = 4
"""Cells per side of the smallest subdomain considered."""
MAX_BAND_VECTORS = 1000
"""In three dimensions, E is factored as a band matrix up to this size; beyond, cycles on its levels are faster."""
MULTILEVEL = "multilevel"


@dataclasses.dataclass(frozen=True, order=True)
class LevelPair:
    """A preconditioner, a deflation space and its coarse solver as texts such as `blocks:16`, a device, a precision."""

    preconditioner: str
    deflation: str
    coarse: str
    device: str
    precision: str = "float64"

    @property
    def parts(self) -> dict[str, str]:
        """The names of the levels and of what is not the default, see `workbench.words.names.run_parts`."""
        plain = dataclasses.asdict(self)
        usual = [name for name in ("device", "precision") if plain[name] == RUN[name].default]
        return run_parts({name: value for name, value in plain.items() if name not in usual})

    @property
    def label(self) -> str:
        """Both levels, and device and precision where they are not the default."""
        parts = self.parts
        levels = method_name({kind: parts[kind] for kind in ("preconditioner", "deflation")})
        return ", ".join([levels, *(parts[name] for name in ("device", "precision") if name in parts)])

    @property
    def code(self) -> str:
        """The levels as code writes them, for tooltips."""
        return method_code({"preconditioner": self.preconditioner, "deflation": self.deflation})

    @property
    def alone(self) -> LevelPair:
        """The first level without a second."""
        return dataclasses.replace(self, deflation="none", coarse="cholesky")

    def on_coarser_grid(self, ratio: int) -> LevelPair | None:
        """The pair with the same cells per subdomain on a grid with `ratio` times fewer cells per side.

        None if less than one subdomain per side would remain.
        """
        name, colon, argument = self.deflation.partition(":")
        if not colon:
            return self
        parts = int(argument) // ratio
        return dataclasses.replace(self, deflation=f"{name}:{parts}") if parts >= 1 else None


def level_pairs(problem: Problem, system: LinearSystem, devices: tuple[str, ...], ratio: int = 1) -> list[LevelPair]:
    """All candidate pairs for a problem, on every device, in every precision that serves it.

    system: that of the problem, or of the problem on a grid `ratio` times coarser.
    """
    known = registry.registered("preconditioner")
    first_levels = [*FIRST_LEVELS, *_of_extensions(known.values())]
    found = []
    for device in devices:
        for deflation, coarse in second_levels(system, ratio):
            for first in first_levels:
                name = first.partition(":")[0]
                if _go_together(known[name], deflation, system):
                    found.append(LevelPair(first, deflation, coarse, device))
                    mixed = dataclasses.replace(found[-1], precision=MIXED)
                    found += [mixed] if _bears_mixed(mixed, system) else []
    return found


def _of_extensions(known: Iterable[type]) -> list[str]:
    return [text for cls in known if issubclass(cls, Preconditioner) for text in cls.advised]


def _go_together(first: type, deflation: str, system: LinearSystem) -> bool:
    """A multigrid cycle has the levels that deflation would add."""
    return not first.needs_stencil or (deflation == "none" and isinstance(system.operator, Stencil))


def _bears_mixed(pair: LevelPair, system: LinearSystem) -> bool:
    alone = pair.deflation == "none" and pair.preconditioner == "mg"
    return (
        isinstance(system.operator, TwoPhaseStencil)
        and pair.preconditioner in IN_MIXED
        and (alone or pair.coarse == MULTILEVEL)
    )


def second_levels(system: LinearSystem, ratio: int = 1) -> list[tuple[str, str]]:
    """Deflation spaces with their coarse solvers: none, those of the two-level paper, and blocks of several sizes.

    ratio: how many times coarser the grid of the system is than that of the problem.
    """
    found = [("none", "cholesky")]
    grid = system.grid
    sides = tuple(ratio * cells for cells in grid or (system.operator.shape[0],))
    if grid is not None and len(grid) > 1:
        found += [("stripes", "cholesky")]
        found += [("planes", "cholesky")] if len(grid) == 3 else []
    parts = 8 if grid is not None else 16
    while parts * MIN_CELLS <= min(sides) and parts ** len(sides) <= MAX_VECTORS[len(sides)]:
        coarse = "cholesky" if len(sides) < 3 or parts ** len(sides) <= MAX_BAND_VECTORS else MULTILEVEL
        found.append((f"blocks:{parts}", coarse))
        if system.phase is not None and grid is not None:
            found.append((f"levelset:{parts}", coarse))
        parts *= 2
    return found


def coarsened(problem: Problem, ratio: int) -> Problem | None:
    """The problem with `ratio` times fewer points per side; None without a parameter n or with too few points."""
    n = getattr(problem, "n", None)
    if not isinstance(n, int) or n // ratio < 2 * MIN_CELLS:
        return None
    try:
        return problem.changed({"n": n // ratio})
    except InputError:
        return None
