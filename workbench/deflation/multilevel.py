"""The multilevel coarse solver: E by cycles over nested boxes, split by phase.

The cycle and the last level on a GPU are chosen by launches and iterations. There most levels take as long as their
launches do, and each level with flexible CG doubles the visits below; a last level of a thousand vectors, a product
with a matrix of 4 MB, saves the launches of a level and its over-correction. On the cores a pass costs what it moves,
and few visits to small levels gain next to nothing. The constants were measured on an H200, for two layers, bubbles in
2D and 500 bubbles in 3D (docs/benchmarks.md).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.deflation.coarse import CoarseSolver, Factor
from workbench.deflation.coarse_dense import DenseFactor, inverse_on_range
from workbench.deflation.galerkin import PlacedMatrix, in_host_memory
from workbench.deflation.hierarchy import hierarchy
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Levels
from workbench.devices.cycles import HostLevels
from workbench.lazy import sparse
from workbench.registry import parameter, register

LAUNCH, RATE = 1.85e-6, 2.3e12
"""Seconds of a launch that is replayed, and bytes per second of levels in the second cache."""
ENDS = 2
"""Launches that bring the right-hand side to the first level and the solution back."""
REST = 2e-5, 3.2e-9
"""Seconds of the other parts of an iteration: fixed, and per vector with the usual boxes of 64 cells."""
MORE, STEEP = {"few in 3D": 0.0, "few": 0.03, "many": 0.085}, 2.7
"""A part by which iterations grow where one level more is left to the plain cycle than has flexible CG, by the number
of phases, and its growth with each such level: the plain cycle over-corrects them all."""
MOST_MORE = 0.1
"""Growth of the iterations, at most: the rest of an iteration may take longer than `REST`."""


def iterations(plain: int, flexible: int, phases: str) -> float:
    """The iterations with plain levels below those with flexible CG, over those of an exact solve."""
    return 1 + MORE[phases] * STEEP ** (plain - flexible) if plain else 1.0


def passes(levels: int, flexible: int) -> list[int]:
    """Passes of a solve over each level, and on the last one, where the first `flexible` levels have two steps."""
    found, visits = [], 1
    for depth in range(levels):
        found.append(visits * (11 if depth < flexible else 4))
        visits *= 2 if depth < flexible else 1
    return [*found, visits]


def seconds(count: int, levels: int, dimensions: int, flexible: int) -> float:
    """Seconds of one solve with `count` vectors on these levels above the last, whose inverse is dense."""
    over = passes(levels, flexible)
    sizes = [count / 2 ** (dimensions * depth) for depth in range(levels + 1)]
    # Each reads and writes the entries of a row with their columns, and three vectors.
    rows = [*(4 * (2 * 2 * dimensions + 3) for _ in range(levels)), 4 * sizes[-1]]
    moved = sum(made * size * row for made, size, row in zip(over, sizes, rows, strict=True))
    return (ENDS + sum(over)) * LAUNCH + moved / RATE


def cycle_for(
    cycles: Mapping[str, tuple[int, ...]], count: int, bottoms: Sequence[int], dimensions: int, phases: str
) -> tuple[str, int, str]:
    """The name of the cycle and the vectors of the last level, at most, with the shortest estimated iterations, and
    why. bottoms: among which it is chosen, below count. phases: their number, as in `MORE`."""
    found = {}
    for name, steps in cycles.items():
        for bottom in bottoms:
            levels = max(1, math.ceil(math.log(count / bottom) / math.log(2**dimensions)))
            flexible = min(levels, len(steps) - 1)
            growth = iterations(levels - flexible, flexible, phases)
            found[name, bottom] = growth, seconds(count, levels, dimensions, flexible)
    most = max(1 + MOST_MORE, min(growth for growth, _ in found.values()))
    times = {made: growth * (REST[0] + REST[1] * count + solve) for made, (growth, solve) in found.items()}
    name, bottom = min((made for made, (growth, _) in found.items() if growth <= most), key=lambda made: times[made])
    listed = ", ".join(
        f"{name} to {bottom} vectors {1e3 * solve:.2g} ms and {growth - 1:.0%}"
        for (name, bottom), (growth, solve) in found.items()
    )
    reason = f"cycle auto is {name} to {bottom} vectors; estimated coarse solve and additional iterations: {listed}"
    return name, bottom, reason


STEPS = {"cg": (2, 0), "k2": (2, 2, 0), "k3": (2, 2, 2, 0), "k": (2,), "v": (1, 0)}
"""Steps of flexible CG on each level, the last number for all below, by the name of the cycle."""
WEIGHED = {name: STEPS[name] for name in ("cg", "k2", "k3")}
"""Cycles among which a GPU chooses where cg alone does not suffice."""
BOTTOMS = 300, 1100
"""Vectors of the last level, at most: on the cores, and what a GPU weighs in addition where it makes the inverse."""
LINEAR = (0,)
"""Steps of the V-cycle as a linear map, whose result may be too large by `scaling` to the power of the levels."""
LISTED = "coarse solver multilevel has levels of"
"""The words before the vectors of each level in the notes of a run."""
REPEATS = 4
"""Solves with cycles where vectors are not of boxes, each for what those before leave. With 849 parts of tetrahedra,
with coefficients from 1 to 1000 in every cell, CG took more than 400 iterations with two, 171 with four, and 153 with
a factorization of E."""
MANY_PHASES = 100
"""Phases above which cycle auto is k3."""


@register
@dataclasses.dataclass(frozen=True)
class Multilevel(CoarseSolver):
    """E approximately, by two steps of flexible CG around a cycle whose levels are nested boxes split by phase.

    A part of the next level is what 2 x 2 x 2 boxes (2 x 2 in 2D) hold of one phase; phases are never merged, since
    that fails for large contrasts. Each level smooths by two Chebyshev steps for D^-1 E on [0.5, 2] before and after,
    its matrix is the Galerkin sum, and corrections are multiplied by `scaling`: E of boxes is q times stiffer than the
    Poisson matrix on its grid, q being cells per side of a box, and each merging doubles that. Vectors without boxes
    are merged in parts of 8 along the strong couplings of E, as deflation parts merges unknowns; cycle auto then is k,
    four times, each for what those before leave. The last level is inverted. All in single precision, except where
    entries of the diagonal of E differ by more than 1e5, or lie outside 1e-30 to 1e30.

    The plain V-cycle over-corrects what all levels represent exactly, such as a constant on a bubble, by `scaling` to
    the power of the levels. Flexible CG around it repairs that for some tens of bubbles, around more levels (K-cycle)
    for any number, and in 2D, where levels are many. With cycle v its result is scaled so that the error in the norm of
    E is smallest, and convergence is slow for large contrasts.

    The residual of E drops to about a hundredth, which A-DEF2, BNN and AD need not see; other variants are refused.

    On a GPU, where levels take as long as their launches do, cycle auto weighs launches against iterations, and a last
    level of about a thousand vectors against another level: with 65,536 vectors in 2D cg down to 1,024 takes 31
    launches and 10% more iterations than k3 down to 256, which takes 119.

    Cost with d vectors: setup about 60 d entries read and written; memory about 120 d bytes, 210 d on an
    accelerator, which makes the levels itself where it has 350 d; a solve moves about 1.2 kB
    per vector, 11 products with E.

    Raises InputError for an E that is not positive (semi)definite, and where merging leaves more than 8192 vectors.

    Source: Tang, Nabben, Vuik, Erlangga 2009 (inexact coarse solves); Vaněk, Mandel, Brezina 1996 (aggregation);
    Notay and Vassilevski 2008 (flexible CG around a cycle).
    """

    name: ClassVar[str] = "multilevel"
    title: ClassVar[str] = "multilevel cycles (inexact, for many vectors)"
    accepts_singular: ClassVar[bool] = True
    in_single: ClassVar[bool] = True
    doubts_exact: ClassVar[bool] = False
    takes_placed: ClassVar[bool] = True
    advice: ClassVar[str] = (
        "the inexact coarse solve may be the cause; try coarse solver sparse, or multilevel with cycle k"
    )

    cycle: str = parameter(
        "auto",
        "cg: two steps of flexible CG around a V-cycle; k2, k3: around the cycles of two or three levels; k: of all "
        "levels; v: a V-cycle, scaled; auto: cg in 3D, k3 in 2D and for many phases, on a GPU there the fastest of cg, "
        "k2 and k3 by a model",
        choices=("auto", *STEPS),
    )
    scaling: float = parameter(1.8, "factor of the corrections from the next level", low=0.5, high=2.0)
    bottom: int = parameter(
        0,
        "vectors of the last level, at most; 0 takes 300, with cycle auto on a GPU 300 or 1100 by a model",
        low=0,
        high=8192,
        unit="vectors",
    )

    def resolved(
        self, matrix: sparse.csr_array | PlacedMatrix, parts: Parts | None, *, on_host: bool, exact: bool
    ) -> tuple[CoarseSolver, str]:
        """On a GPU a copy with the cycle and the last level that take least time, where phases tell parts apart."""
        count, usual = matrix.shape[0], self.usual_bottom
        if self.cycle != "auto" or on_host or exact or count <= usual or parts is None:
            return self, ""
        # Elsewhere the inverse of a thousand vectors is made on the host, in a sixth of a second.
        device = matrix.device if isinstance(matrix, PlacedMatrix) and matrix.dtype == np.float64 else None
        inverts = device is not None and device.inverts
        bottoms = [bottom for bottom in BOTTOMS if bottom < count] if inverts and not self.bottom else [usual]
        easy = _is_easy(parts)
        if (easy and len(bottoms) == 1) or (kinds := parts.kinds) < 2:
            return self, ""
        cycles = {"cg": STEPS["cg"]} if easy else WEIGHED
        phases = "few in 3D" if easy else "many" if kinds > MANY_PHASES else "few"
        cycle, bottom, reason = cycle_for(cycles, count, bottoms, len(parts.per_side), phases)
        return dataclasses.replace(self, cycle=cycle, bottom=bottom), f"coarse solver {self.name}: {reason}"

    @property
    def usual_bottom(self) -> int:
        """Vectors of the last level, at most, where no model chooses."""
        return self.bottom or BOTTOMS[0]

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        # Accelerators have the levels in the form of their kernels as well.
        return 130 * count, 210 * count

    def is_exact(self, count: int) -> bool:
        return count <= self.usual_bottom

    def factor(
        self, matrix: sparse.csr_array | PlacedMatrix, parts: Parts | None = None, *, linear: bool = False
    ) -> Factor:
        """Factor E as in the base class. linear: leave out the step that scales the result of cycle v."""
        if matrix.shape[0] <= self.usual_bottom:
            return DenseFactor(inverse_on_range(in_host_memory(matrix).toarray()))
        cycle, repeats = self.cycle, 1
        if cycle == "auto":
            cycle, repeats = ("k", REPEATS) if parts is None else ("cg" if _is_easy(parts) else "k3", 1)
        steps = LINEAR if linear and cycle == "v" else STEPS[cycle]
        device = matrix.device if isinstance(matrix, PlacedMatrix) else None
        levels = hierarchy(matrix, parts, self.usual_bottom, self.scaling, steps, repeats)
        return MultilevelFactor(levels, cycle, device)


def _is_easy(parts: Parts) -> bool:
    """True if flexible CG around the first level is enough: for few bubbles in 3D, where levels are few."""
    return len(parts.per_side) > 2 and parts.kinds <= MANY_PHASES


class MultilevelFactor(Factor):
    """E^-1 approximately, as levels. device: in whose memory they may be."""

    exact = False

    def __init__(self, levels: Levels, cycle: str, device: Any) -> None:
        self.form = self._levels = levels
        self._cycle, self._device = cycle, device

    @functools.cached_property
    def levels(self) -> Levels:
        """The levels in host memory."""
        return self._levels.on_host(self._device)

    @functools.cached_property
    def _solver(self) -> HostLevels:
        return HostLevels(self.levels)

    def solve(self, right: np.ndarray) -> np.ndarray:
        return self._solver.solve(right).astype(right.dtype)

    @property
    def dtype(self) -> np.dtype:
        """The precision of the levels."""
        return self._levels.bottom.dtype

    @property
    def notes(self) -> tuple[str, ...]:
        listed = ", ".join(str(size) for size in self.sizes)
        precision = self.dtype
        repeats = self._levels.repeats
        times = f" {repeats} times" if repeats > 1 else ""
        return (f"{LISTED} {listed} vectors, in {precision}, and takes cycle {self._cycle}{times}",)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Vectors of each level, finest first."""
        return (*(level.size for level in self._levels.levels), self._levels.bottom.shape[0])

    @property
    def traffic(self) -> int:
        return self._levels.traffic
