"""The choice of a cycle of the multilevel coarse solver and of its last level on a GPU, by launches and iterations.

There most levels take as long as their launches do, and each level with flexible CG doubles the visits below; a last
level of a thousand vectors, a product with a matrix of 4 MB, saves the launches of a level and its over-correction.
On the cores a pass costs what it moves, and few visits to small levels gain next to nothing. The constants were
measured on an H200, for two layers, bubbles in 2D and 500 bubbles in 3D (docs/benchmarks.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
