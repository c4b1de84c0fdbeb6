"""The iteration counts that the two-level paper prints in its Table 2, against settings that it does not specify.

    python -m benchmarks two_level_counts [--quick] [--output FOLDER]

One setting differs from those of `workbench reproduce two-level table2` in a row: right-hand side, initial guess,
scale, stopping test, precision, stripes or boxes, geometry. The fit of a setting is the rms over all printed counts of
ln(ours / printed), ours being the geometric mean over `SEEDS` initial guesses; 0.2 is about 20%. --quick runs up to 256
cells per side.

All stopping tests are followed in one solve, so a test costs no solve of its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import report
from workbench.extensions.papers.two_level_settings import LEVEL_ONE, printed
from workbench.problems import LinearSystem
from workbench.problems.diffusion import assemble_two_phases
from workbench.run import Run, Stopping, configure

SEEDS = (0, 1)
RTOL = 1e-6
MOST = 1500
"""Iterations after which a solve is given up."""

Start = Callable[[np.random.Generator, int], np.ndarray]
Change = Callable[[LinearSystem, int], LinearSystem]


@dataclasses.dataclass(frozen=True)
class Setting:
    """What differs from the default. change: of the system, from n. start: the initial guess. second: the deflation
    space for n. choices: of the configuration. largest: cells per side beyond which it is not run."""

    change: Change = lambda system, _: system
    start: Start = lambda random, size: random.random(size)
    second: Callable[[int], str] = lambda _: "stripes"
    choices: dict[str, Any] = dataclasses.field(default_factory=dict)
    largest: int = 1024


def with_rhs(make: Callable[[LinearSystem, int], np.ndarray]) -> Change:
    """The system with another b."""
    return lambda system, n: dataclasses.replace(system, given_b=make(system, n))


def layers(*, sides: str = "y-:dirichlet", distance: float = 1.0, turned: bool = False) -> Change:
    """The system with other walls; turned: with the layers side by side, so that stripes cross the interface."""

    def change(system: LinearSystem, n: int) -> LinearSystem:
        assert system.phase is not None
        assert isinstance(system.coefficients, tuple)
        phase = system.phase.reshape(n, n)
        phase = np.ascontiguousarray(phase.T) if turned else phase
        operator = assemble_two_phases(phase, system.coefficients, sides, dirichlet_distance=distance)
        return dataclasses.replace(system, operator=operator, phase=phase.reshape(-1))

    return change


def in_single(system: LinearSystem, _: int) -> LinearSystem:
    """The system in single precision."""
    return dataclasses.replace(
        system,
        operator=system.operator.astype(np.dtype(np.float32)),
        given_b=np.ones(system.operator.shape[0], np.float32),
    )


def product_with_ones(system: LinearSystem, n: int) -> np.ndarray:
    """b = A x* for x* = 1, which is zero except next to the wall."""
    return system.operator.to_csr() @ np.ones(n * n)


SETTINGS: dict[str, Setting] = {
    "default: b = 1, x0 in [0, 1), 2 stripes a row": Setting(),
    "b random in [0, 1)": Setting(with_rhs(lambda _, n: np.random.default_rng(99).random(n * n)), largest=256),
    "b = A x*, x* = 1": Setting(with_rhs(product_with_ones), largest=256),
    "A scaled by 1/h^2": Setting(with_rhs(lambda _, n: np.full(n * n, 1.0 / n**2))),
    "A scaled by 1/h": Setting(with_rhs(lambda _, n: np.full(n * n, 1.0 / n))),
    "x0 = 0": Setting(start=lambda _, size: np.zeros(size)),
    "x0 in [-1, 1)": Setting(start=lambda random, size: 2 * random.random(size) - 1),
    "x0 normal": Setting(start=lambda random, size: random.standard_normal(size)),
    "single precision": Setting(in_single),
    "vectors in single precision, A-DEF2": Setting(choices={"precision": "mixed", "variant": "a-def2"}),
    "1 stripe a row": Setting(second=lambda _: "stripes:1"),
    "4 stripes a row": Setting(second=lambda _: "stripes:4"),
    "8 stripes a row": Setting(second=lambda _: "stripes:8"),
    "16 x 16 boxes": Setting(second=lambda _: "blocks:16"),
    "8 x 8 boxes to 256, 16 x 16 beyond": Setting(second=lambda n: "blocks:8" if n <= 256 else "blocks:16"),
    "about 2n boxes": Setting(second=lambda n: f"blocks:{round(math.sqrt(2 * n))}"),
    "stripes across the interface": Setting(layers(sides="x-:dirichlet", turned=True)),
    "wall half a cell away": Setting(layers(distance=0.5)),
    "Dirichlet on y = 0 and 1": Setting(layers(sides="y-:dirichlet,y+:dirichlet")),
    "heavy fluid below": Setting(choices={"density_ratio": 1e3}),
}
TESTS = {
    "||r|| to 1e-6 ||b||": "residual",
    "||r|| to 1e-6 ||r0||": "residual",
    "sqrt(r, M^-1 r) to 1e-6 of its start": "natural",
    "||M^-1 r|| to 1e-6 of its start": "preconditioned",
}
"""Stopping tests and the norms that they use."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints: counts and fit of every setting and stopping test, the best fit first."""
    sizes = [n for n in (128, 256, 512, 1024) if n <= (256 if quick else 1024)]
    found: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        tables = counted(setting, [n for n in sizes if n <= setting.largest])
        for test, counts in tables.items():
            row = {"fit": fit(counts), "fit_by_n": {n: fit({n: counts[n]}) for n in counts}, "counts": counts}
            report(f"{name}; {test}", {"fit": row["fit"], "fit_by_n": row["fit_by_n"]})
            found[f"{name}; {test}"] = row
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1]["counts"]), pair[1]["fit"])))


def counted(setting: Setting, sizes: list[int]) -> dict[str, dict[int, dict[str, float]]]:
    """The geometric mean of the counts, by stopping test, size and preconditioner."""
    tables: dict[str, dict[int, dict[str, float]]] = {test: {n: {} for n in sizes} for test in TESTS}
    for n in sizes:
        for name, first in LEVEL_ONE.items():
            counts = [_counts(setting, n, first, seed) for seed in SEEDS]
            for test in TESTS:
                tables[test][n][name] = math.exp(sum(math.log(one[test]) for one in counts) / len(counts))
    return tables


def _counts(setting: Setting, n: int, first: str, seed: int) -> dict[str, float]:
    """Iterations of one solve until each stopping test is met, infinite where it never is."""
    blocks = {"preconditioner": first, "deflation": setting.second(n), "coarse": "cholesky", "variant": "def1"}
    stopping = Stopping(rtol=RTOL / 1000, maxiter=MOST)
    configuration = configure("two-layer", n=n, stopping=stopping, **{**blocks, **setting.choices})
    system = setting.change(configuration.problem.assemble(), n)
    x0 = setting.start(np.random.default_rng(seed), n * n).astype(system.operator.dtype)
    run = Run(configuration, system, x0)
    length = run.threshold / stopping.rtol
    counts = dict.fromkeys(TESTS, math.inf)
    going = True
    while going and math.inf in counts.values():
        going = run.step()
        for test, norm in TESTS.items():
            norms = run.history[norm]
            if norms[-1] <= RTOL * (length if test.endswith("||b||") else norms[0]):
                counts[test] = min(counts[test], max(1, run.iterations))
    return counts


def fit(counts: dict[int, dict[str, float]]) -> float:
    """The rms of ln(ours / printed)."""
    table = printed()["table2"]
    column = {int(size): place for place, size in enumerate(table["columns"][1:], 1)}
    logs = [math.log(counts[n][line[0]] / line[column[n]]) for n in counts for line in table["rows"]]
    return math.sqrt(sum(log * log for log in logs) / len(logs))
