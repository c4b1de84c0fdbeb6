"""Candidate pairs of preconditioner and deflation space for the advisor, their counterparts on coarser grids, and the
times on a fine grid that solves of the same pair on coarser grids predict.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Iterable

import numpy as np

from workbench.deflation import Deflation
from workbench.devices.fastest import bandwidth
from workbench.errors import InputError
from workbench.operators import LinearOperatorAdapter, Stencil, TwoPhaseStencil
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.registry import Block
from workbench.registry import blocks as registry
from workbench.run import Run
from workbench.run.loop.traffic import iteration_bytes
from workbench.settings import AUTO, MIXED, RUN
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
    found = []
    for device in devices:
        for deflation, coarse in second_levels(system, ratio):
            for first in first_levels:
                if _go_together(known[first.partition(":")[0]], deflation, system):
                    dimensions = len(system.grid or ())
                    found.append(LevelPair(first, deflation, coarse, device, dimensions=dimensions))
                    mixed = dataclasses.replace(found[-1], precision=MIXED)
                    found += [mixed] if _bears_mixed(mixed, system) else []
    return _promising_first(found, system)


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


DEFAULT_GROWTH = {"none": 1.0, "stripes": 0.5, "planes": 1.0}
"""Exponent of n in the iterations after one coarse grid only; 0 for a fixed number of cells per subdomain."""
MAX_GROWTH = 1.2
FACTORED = "coarse solver"
"""The phase of a setup that factors E."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One solve on a coarser grid. n, unknowns: points per side and N. iterations: to the tolerance, extrapolated where
    it was stopped. factoring: seconds of the setup that factor E. coarse_solve: seconds of one of the iteration's
    seconds. moved: bytes of an iteration, None if unknown."""

    n: int
    unknowns: int
    dimensions: int
    iterations: float
    setup_seconds: float
    factoring: float
    per_iteration: float
    coarse_solve: float
    moved: int | None

    @classmethod
    def of(cls, run: Run, n: int) -> Probe:
        """The probe of a run that ended, or was stopped."""
        per_iteration = seconds_of_an_iteration(run)
        factoring = sum(phase.seconds for phase in run.setup.phases.done if phase.name == FACTORED)
        return cls(
            n,
            run.setup.operator.shape[0],
            len(run.setup.system.grid or (1,)),
            iterations_needed(run),
            run.setup_seconds,
            min(factoring, run.setup_seconds),
            per_iteration,
            min(per_iteration, _coarse_solve_seconds(run)),
            iteration_bytes(run.setup),
        )


@dataclasses.dataclass(frozen=True)
class Prediction:
    """The prediction of a solve. growth: exponent of n in the iterations."""

    iterations: float
    setup_seconds: float
    per_iteration: float
    growth: float


def predict(pair: LevelPair, probes: list[Probe], n: int) -> Prediction:
    """The solve with n points per side. probes: of one or two coarser grids, coarsest first.

    Iterations grow by a power of n that both probes give, or that is usual for the pair. Times are a constant plus a
    part in proportion to N, by both probes, since a small grid takes mostly launches and other fixed times. Factors of
    E, and solves with them, have their operations in place of N. An iteration takes at least the time in which main
    memory delivers its bytes: vectors of a probe may lie in the caches.
    """
    last = probes[-1]
    ratio = n / last.n
    cells = ratio**last.dimensions
    growth = _growth(pair, probes)
    direct = pair.deflation != "none" and pair.coarse != MULTILEVEL
    unknowns = last.unknowns * cells
    if direct:
        # E of k^d boxes has half-bandwidth k^(d-1): factors take k^(3d-2) operations, and a solve k^(2d-1).
        powers = 3 * last.dimensions - 2, 2 * last.dimensions - 1
        factoring, solving = (
            _linear([(p.n**power, seconds(p)) for p in probes], n**power)
            for power, seconds in zip(powers, (lambda p: p.factoring, lambda p: p.coarse_solve), strict=True)
        )
    else:
        factoring = _linear([(p.unknowns, p.factoring) for p in probes], unknowns)
        solving = _linear([(p.unknowns, p.coarse_solve) for p in probes], unknowns)
    setup = _linear([(p.unknowns, p.setup_seconds - p.factoring) for p in probes], unknowns)
    rest = _linear([(p.unknowns, p.per_iteration - p.coarse_solve) for p in probes], unknowns)
    per_iteration = rest + solving
    if last.moved and cells > 1:
        speed = _bandwidth(pair.device)
        per_iteration = max(per_iteration, last.moved * cells / speed if speed else 0.0)
    return Prediction(last.iterations * ratio**growth, setup + factoring, per_iteration, growth)


@functools.cache
def _bandwidth(device: str) -> float:
    """Bytes per second of main memory, measured once: it takes some tenths of a second."""
    return bandwidth(device)


def _growth(pair: LevelPair, probes: list[Probe]) -> float:
    level = registry.known("preconditioner", pair.preconditioner.partition(":")[0])
    is_cycle = level is not None and issubclass(level, Preconditioner) and level.is_cycle
    usual = 0.0 if is_cycle else DEFAULT_GROWTH.get(pair.deflation, 0.0)
    # A run that was stopped in its first iteration has no rate, and its number of iterations is infinite.
    known = [probe for probe in probes if math.isfinite(probe.iterations)]
    if len(known) < 2:
        return usual
    first, last = known[-2:]
    found = math.log(last.iterations / first.iterations) / math.log(last.n / first.n)
    return min(MAX_GROWTH, max(0.0, found))


def _linear(times: list[tuple[int, float]], size_there: float) -> float:
    """Seconds at a size N, such as the number of unknowns: a + b N through the last two times; neither a nor b is
    negative."""
    size, seconds = times[-1]
    if len(times) < 2:
        return seconds * size_there / size
    before, less = times[-2]
    slope = min(max(0.0, (seconds - less) / (size - before)), seconds / size)
    return seconds + slope * (size_there - size)


def iterations_needed(run: Run) -> float:
    """Iterations to the threshold: those made by a finished run, else extrapolated at the rate so far, up to the least
    norm, since norms of residuals rise in between."""
    norms = run.history[run.configuration.stopping.norm]
    if run.reason is not None:
        return max(1, run.iterations)
    achieved = math.log(max(norms.max(), run.threshold) / max(norms.min(), 1e-300))
    required = math.log(max(norms.max() / run.threshold, 1.0))
    return max(run.iterations, run.iterations * required / achieved if achieved > 0 else math.inf)


def seconds_of_an_iteration(run: Run) -> float:
    """The median, which a disturbed iteration does not change."""
    steps = np.diff(run.history["seconds"])
    return float(np.median(steps)) if steps.size else run.iteration_seconds


def _coarse_solve_seconds(run: Run) -> float:
    """Seconds of one coarse solve, the best of three; 0 without a second level."""
    projection = run.setup.projection
    if projection is None:
        return 0.0
    device = run.setup.device
    right = device.array(np.ones(projection.count), np.dtype(np.float64))
    times = []
    for _ in range(3):
        started = time.perf_counter()
        projection.coarse_solve(right)
        device.synchronize()
        times.append(time.perf_counter() - started)
    return min(times)
