"""Times on a fine grid that solves of the same pair of levels on coarser grids predict."""

from __future__ import annotations

import dataclasses
import functools
import math
import time

import numpy as np

from workbench.advise.level_pairs import MULTILEVEL, LevelPair
from workbench.devices.fastest import bandwidth
from workbench.preconditioners import Preconditioner
from workbench.registry import blocks as registry
from workbench.run import Run
from workbench.run.loop.traffic import iteration_bytes

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
