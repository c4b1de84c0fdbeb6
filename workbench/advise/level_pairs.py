"""Candidate pairs of preconditioner and deflation space for the advisor, and their counterparts on coarser grids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from workbench import devices as all_devices
from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.operators import LinearOperatorAdapter, Stencil, TwoPhaseStencil
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.registry import Block
from workbench.registry import blocks as registry
from workbench.run.choices.levels import chosen_levels
from workbench.settings import AUTO, MIXED, RUN
from workbench.solvers import Solver
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
    "kcycle",
    "mg",
)
"""First-level candidates of the core; those of extensions follow."""
WITHOUT_NEAR_NULL = ("amg:rs",)
"""Those of them that refuse a near null space."""
WITH_LEVELS = ("kcycle", "mg")
"""First levels that have the coarse levels which deflation would add."""
IN_MIXED = ("neumann:1", "neumann:2", "mg")
"""First levels that are also tried in precision mixed, with the coarse solvers that bear it, for two phases."""
EARLY = {
    "grid": (
        ("mg", "none"),
        ("neumann:2", "levelset:8"),
        ("neumann:2", "blocks:8"),
        ("mic", "none"),
        ("neumann:2", "none"),
    ),
    "small": (
        ("mic", "none"),
        ("ssor", "none"),
        ("chebyshev:3", "none"),
        ("jacobi", "none"),
        ("amg:sa", "none"),
        ("ic", "parts:100"),
        ("ic", "none"),
    ),
    "dense": (
        ("pivoted-cholesky:100", "none"),
        ("pivoted-cholesky:200", "none"),
        ("jacobi", "none"),
    ),
    "near null": (
        ("ic", "parts:100"),
        ("kcycle", "none"),
        ("chebyshev:3", "parts:100"),
        ("amg:sa", "none"),
    ),
    "large": (
        ("ic", "parts:100"),
        ("kcycle", "none"),
        ("mic", "none"),
        ("amg:sa", "none"),
        ("chebyshev:3", "parts:100"),
        ("jacobi", "parts:100"),
        ("chebyshev:3", "none"),
        ("jacobi", "none"),
    ),
}
"""Pairs that are tried first: on a grid, and of a matrix without one that is dense, that has a near null space, or that
is below `SECOND_LEVEL_PAYS` unknowns, or beyond."""
DENSE = 0.25
"""The share of entries from which a matrix without a grid counts as dense, such as a kernel matrix."""
LEAST_DENSE = 200
"""Unknowns of a dense matrix; below, anything is fast."""
OF_DENSE = ("jacobi", "chebyshev:3", *(f"pivoted-cholesky:{rank}" for rank in (50, 100, 200, 400)))
"""First levels of a dense matrix: incomplete factors and coarse levels of one are as dense, and take N^3 operations."""
SECOND_LEVEL_PAYS = 35_000
PART_SIZES = (50, 100, 200)
"""Unknowns of a part of the graph, of a matrix without a grid."""
MAX_VECTORS = {1: 20_000, 2: 20_000, 3: 3_000_000}
"""Subdomains of a candidate, by dimensions."""
MIN_CELLS = 4
"""Cells per side of the smallest subdomain considered."""
MAX_BAND_VECTORS = 1000
"""In three dimensions, E is factored as a band matrix up to this size; beyond, cycles on its levels are faster."""
MULTILEVEL = "multilevel"


@dataclasses.dataclass(frozen=True, order=True)
class LevelPair:
    """A preconditioner, a deflation space and its coarse solver as texts such as `blocks:16`, a device, a precision.

    dimensions: of the grid of its problem, 0 without one, for its name alone.
    """

    preconditioner: str
    deflation: str
    coarse: str
    device: str
    precision: str = "float64"
    dimensions: int = dataclasses.field(default=0, compare=False)

    @property
    def parts(self) -> dict[str, str]:
        """The names of the levels and of what is not the default, see `workbench.words.names.run_parts`."""
        plain = dataclasses.asdict(self)
        usual = [name for name in ("device", "precision") if plain[name] == RUN[name].default]
        return run_parts({name: plain[name] for name in plain if name not in usual}, dimensions=self.dimensions)

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
    if isinstance(system.operator, LinearOperatorAdapter):
        # The others need the diagonal or entries of A.
        first_levels = ["none", "jacobi", "chebyshev:3"]
    if is_dense(system):
        first_levels = [*OF_DENSE]
    if system.near_null is not None:
        first_levels = [first for first in first_levels if first not in WITHOUT_NEAR_NULL]
    found = []
    for device in devices:
        for deflation, coarse in second_levels(system, ratio):
            for first in first_levels:
                if _go_together(known[first.partition(":")[0]], deflation, system):
                    dimensions = len(system.grid or ())
                    found.append(LevelPair(first, deflation, coarse, device, dimensions=dimensions))
                    mixed = dataclasses.replace(found[-1], precision=MIXED)
                    found += [mixed] if _bears_mixed(mixed, system) else []
    by_default = [pair for device in devices if (pair := default_pair(system, device))]
    return list(dict.fromkeys([*by_default, *_promising_first(found, system)]))


def default_pair(system: LinearSystem, device: str) -> LevelPair | None:
    """The pair of a run that names none, see `run.choices.levels`; None where that is no choice by its rule, and for a
    dense matrix."""
    if system.grid is not None or is_dense(system):
        return None
    modes, method = system.near_null is not None, Solver.named("cg")
    try:
        first, second, note = chosen_levels(system.operator, method, all_devices.device(device), modes=modes)
    except InputError:
        # The search says of each pair that there is no such device.
        return None
    if not note:
        return None
    return LevelPair(str(first), str(second), "cholesky" if second == "none" else AUTO, device)


def _promising_first(pairs: list[LevelPair], system: LinearSystem) -> list[LevelPair]:
    """The pairs of `EARLY`, then the others as they are: a good time early stops the slow ones soon."""
    early = EARLY[_kind(system)]
    places = {levels: place for place, levels in enumerate(early)}
    return sorted(pairs, key=lambda pair: places.get((pair.preconditioner, pair.deflation), len(early)))


def _kind(system: LinearSystem) -> str:
    """The kind of a system in `EARLY`."""
    if system.grid is not None:
        return "grid"
    if system.near_null is not None:
        return "near null"
    return "dense" if is_dense(system) else "small" if system.operator.shape[0] < SECOND_LEVEL_PAYS else "large"


def is_dense(system: LinearSystem) -> bool:
    """True for a matrix without a grid that stores a fourth of its entries or more."""
    size, entries = system.operator.shape[0], system.operator.nnz
    return system.grid is None and entries is not None and entries >= DENSE * size**2 and size >= LEAST_DENSE


def _of_extensions(known: Iterable[type]) -> list[str]:
    return [text for cls in known if issubclass(cls, Preconditioner) for text in cls.advised]


def _go_together(first: type[Block], deflation: str, system: LinearSystem) -> bool:
    """A multigrid cycle has the levels that deflation would add, and one of both levels takes a near null space."""
    if system.near_null is not None:
        both = first, registry.lookup("deflation", deflation.partition(":")[0])
        if not any(issubclass(each, Preconditioner | Deflation) and each.takes_near_null for each in both):
            return False
    if first.name not in WITH_LEVELS:
        return True
    needs_stencil = issubclass(first, Preconditioner) and first.needs_stencil
    return deflation == "none" and (not needs_stencil or isinstance(system.operator, Stencil))


def _bears_mixed(pair: LevelPair, system: LinearSystem) -> bool:
    alone = pair.deflation == "none" and pair.preconditioner == "mg"
    return (
        isinstance(system.operator, TwoPhaseStencil)
        and pair.preconditioner in IN_MIXED
        and (alone or pair.coarse == MULTILEVEL)
    )


def second_levels(system: LinearSystem, ratio: int = 1) -> list[tuple[str, str]]:
    """Deflation spaces with their coarse solvers: none, those of the two-level paper, and blocks of several sizes; of a
    matrix without a grid parts of its graph.

    ratio: how many times coarser the grid of the system is than that of the problem.
    """
    found = [("none", "cholesky")]
    grid = system.grid
    if grid is None:
        size = system.operator.shape[0]
        if is_dense(system) and system.near_null is None:
            return found
        sizes = [of for of in PART_SIZES if MIN_CELLS * of <= size]
        # A near null space has to be taken by something, however small the matrix is.
        sizes = sizes or [max(1, size // MIN_CELLS)] * (system.near_null is not None)
        return found + [(f"parts:{of}", AUTO) for of in sizes]
    sides = tuple(ratio * cells for cells in grid)
    if len(grid) > 1:
        found += [("stripes", "cholesky")]
        found += [("planes", "cholesky")] if len(grid) == 3 else []
    parts = 8
    while parts * MIN_CELLS <= min(sides) and parts ** len(sides) <= MAX_VECTORS[len(sides)]:
        coarse = coarse_solver_of(parts, len(sides))
        found.append((f"blocks:{parts}", coarse))
        if system.phase is not None:
            found.append((f"levelset:{parts}", coarse))
        parts *= 2
    return found


def coarse_solver_of(parts: int, dimensions: int) -> str:
    """The coarse solver of a candidate with this number of subdomains per side."""
    return "cholesky" if dimensions < 3 or parts**dimensions <= MAX_BAND_VECTORS else MULTILEVEL


def coarsened(problem: Problem, ratio: int) -> Problem | None:
    """The problem with `ratio` times fewer points per side; None without a parameter n or with too few points."""
    n = problem.per_side
    if n is None or n // ratio < 2 * MIN_CELLS:
        return None
    try:
        return problem.changed({"n": n // ratio})
    except InputError:
        return None
