"""Compute the numbers of the start page: a race, and a small picture for each of its links.

python -m scripts.record_start     workbench/extensions/classroom/server/data/start.json
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from contourpy import contour_generator

from workbench.advise import advise
from workbench.extensions.classroom.server.named_links import LINKS
from workbench.extensions.classroom.server.start_pictures import FILE, Contestant, Mark, Picture, StartData
from workbench.files import write
from workbench.live.compare.race_opening import opening
from workbench.machines.describe import machine_line
from workbench.problems.bubbles import Bubbles
from workbench.records.film import Film
from workbench.run import Configuration, Result, Run, configure, run_through
from workbench.run.results.filming import Camera
from workbench.sequences.sequence import Sequence
from workbench.words.distinct import distinct_names

POINTS = 60
"""Points of a curve that are kept."""
ROUNDS = 5
"""Times that each method of the race is run; the fastest one is shown, since other work only slows a run."""
SIDE = 24
"""Cells per side of a small map."""
AWAY = 0.35
"""The shift of what lies behind, in a picture of a cube."""
CHOSEN = {link.title: link.made for link in LINKS}


def solved(configuration: Configuration, **traits: Any) -> Result:
    """A solve, after one that loads its kernels."""
    run_through(Run(configuration))
    return run_through(Run(configuration, **traits))


def made(title: str) -> Configuration:
    """The problem and method of a link."""
    found = CHOSEN[title]
    assert found is not None
    return found()


def race() -> list[Contestant]:
    """The four methods with which the race opens, over seconds with setup."""
    entries = opening(configure("bubbles-2d", preconditioner="neumann:2", deflation="levelset:8"))
    best = []
    for entry in entries:
        results = [solved(entry) for _ in range(ROUNDS)]
        best.append(min(results, key=lambda one: one.setup_seconds + one.iteration_seconds))
    names = distinct_names([result.record().parts for result in best])
    return [_contestant(name, result) for name, result in zip(names, best, strict=True)]


def _contestant(name: str, result: Result) -> Contestant:
    seconds = result.setup_seconds + result.history["seconds"]
    kept = _thinned(seconds.size)
    residuals = np.array(result.record().relative_residual)
    return Contestant(name, _rounded(seconds[kept]), _rounded(residuals[kept]))


def _thinned(size: int) -> np.ndarray:
    return np.unique(np.linspace(0, size - 1, POINTS).round().astype(int))


def _rounded(values: np.ndarray, digits: int = 4) -> list[Any]:
    return [float(f"{value:.{digits}g}") for value in values] if values.ndim == 1 else [_rounded(row) for row in values]


def curves(*results: np.ndarray, x: list[np.ndarray] | None = None) -> list[Mark]:
    """Residuals from the largest to the smallest one, over iterations or x."""
    across = x or [np.arange(each.size, dtype=float) for each in results]
    most, logs = max(each.max() for each in across), [np.log10(each) for each in results]
    high, low = max(each.max() for each in logs), min(each.min() for each in logs)
    shares = [
        np.column_stack([at / most, (each - low) / (high - low)])[_thinned(each.size)]
        for at, each in zip(across, logs, strict=True)
    ]
    return [Mark("line", _rounded(each, 3), 1 + k) for k, each in enumerate(shares)]


def bubbles() -> list[Mark]:
    problem = made("50 random bubbles").problem
    assert isinstance(problem, Bubbles)
    geometry = problem.geometry()
    return [Mark("circle", _rounded(np.column_stack([geometry.centres, geometry.radii]), 3), 1)]


def cube() -> list[Mark]:
    """Bubbles in a cube seen from the front, the nearer ones last."""
    problem = made("8 bubbles in a cube").problem
    assert isinstance(problem, Bubbles)
    geometry = problem.geometry()
    shrink = 1 / (1 + AWAY)
    order = np.argsort(-geometry.centres[:, 1])
    x, y, z = geometry.centres[order].T
    seen = np.column_stack([shrink * (x + AWAY * y), shrink * (z + AWAY * y), shrink * geometry.radii[order]])
    front, back = (np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]) + shift for shift in (0.0, AWAY))
    edges = [front, back, *(np.array([front[k], back[k]]) for k in range(4))]
    return [*(Mark("line", _rounded(shrink * each, 3), 0) for each in edges), Mark("circle", _rounded(seen, 3), 1)]


def solution(title: str) -> Mark:
    """The solution of a 2D problem as a map."""
    result = solved(made(title))
    return Mark("cells", _map(np.real(result.x).reshape(_square(result.x))), 1)


def _square(vector: np.ndarray) -> tuple[int, int]:
    side = round(vector.size**0.5)
    return side, side


def _map(values: np.ndarray) -> list[list[float]]:
    """Values from 0 to 1 on a few cells, row 0 at the bottom."""
    step = max(1, len(values) // SIDE)
    few = values[step // 2 :: step, step // 2 :: step]
    return np.round((few - few.min()) / (np.ptp(few) or 1.0), 2).tolist()


def pattern() -> list[Mark]:
    """The share of entries in each block of a matrix, by its logarithm."""
    matrix = made("A stiffness matrix").problem.assemble().operator.to_csr().tocoo()
    counts, _, _ = np.histogram2d(matrix.row, matrix.col, bins=SIDE)
    return [Mark("cells", _map(np.log1p(counts)[::-1]), 1)]


def pipelined() -> list[Mark]:
    found = [
        solved(made("Pipelined CG against CG")),
        solved(dataclasses.replace(made("Pipelined CG against CG"), solver=configure("poisson5").solver)),
    ]
    times = [each.history["seconds"] for each in found]
    return curves(*(np.array(each.record().relative_residual) for each in found), x=times)


def columns() -> list[Mark]:
    return curves(*solved(made("Eight right-hand sides")).history.columns.T)


def boxes() -> list[Mark]:
    """Nine boxes that overlap, over the solution."""
    chosen = made("A direction from each of nine boxes")
    overlap, n = chosen.preconditioner.overlap, chosen.problem.n
    cuts = np.linspace(0, 1, 4)
    spans = [(max(0, low - overlap / n), min(1, high + overlap / n)) for low, high in itertools.pairwise(cuts)]
    corners = [[left, bottom, right, top] for left, right in spans for bottom, top in spans]
    return [solution("A direction from each of nine boxes"), Mark("box", _rounded(np.array(corners), 3), 2)]


def rising() -> list[Mark]:
    """The outlines of a rising bubble at four times, in the part of the box through which it rises."""
    n, low, side = 40, 0.15, 1.2
    sequence = Sequence("rising-bubbles", n=n, preconditioner="mg").run()
    x, y = (np.arange(n) + 0.5) / n, (np.arange(2 * n) + 0.5) / n
    marks = []
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        phase = np.asarray(sequence.phase_at(1 + round(share * (sequence.steps - 1))), float).reshape(2 * n, n)
        outline = contour_generator((x - 0.5) / side + 0.5, (y - low) / side, phase).lines(0.5)
        marks += [Mark("line", _rounded(np.asarray(line), 3), 1 if share else 0) for line in outline]
    return marks


def line_by_line() -> list[Mark]:
    """The size of the residual at four iterations, from the start to the end, each to its own scale."""
    film = Film()
    run_through(Run(configure("bubbles-2d", n=16), camera=Camera(film, share=math.inf)))
    last = len(film.frames) - 1
    sizes = [np.abs(film.frames[last * k // 3].vectors["residual"]).reshape(16, 16) for k in range(4)]
    maps = [size / size.max() for size in sizes]
    gap = np.full((16, 1), np.nan)
    above, below = (np.hstack([left, gap, right]) for left, right in ((maps[0], maps[1]), (maps[2], maps[3])))
    whole = np.vstack([below, np.full((1, 33), np.nan), above])
    return [Mark("cells", [[None if np.isnan(value) else round(float(value), 2) for value in row] for row in whole], 1)]


def pairs() -> list[Mark]:
    """Seconds of the five fastest pairs of levels, to scale."""
    ranked = [each.seconds for each in advise("bubbles-2d", n=128).estimates if each.measured][:5]
    return [Mark("bar", [[round(value / max(ranked), 3)] for value in ranked], 1)]


PICTURES: dict[str, Callable[[], list[Mark]]] = {
    "50 random bubbles": bubbles,
    "8 bubbles in a cube": cube,
    "Two layers": lambda: [solution("Two layers")],
    "A stiffness matrix": pattern,
    "Pipelined CG against CG": pipelined,
    "Eight right-hand sides": columns,
    "A direction from each of nine boxes": boxes,
    "Rising bubbles": rising,
    "CG, line by line": line_by_line,
    "Which pair is fastest?": pairs,
}


def main() -> None:
    """Write the file."""
    pictures = [Picture(link.title, PICTURES[link.title]()) for link in LINKS]
    today = datetime.now(UTC).date().isoformat()
    stored = StartData(today, machine_line(), "4 bubbles in a square, 256²", race(), pictures)
    print(write(FILE, json.dumps(dataclasses.asdict(stored), separators=(",", ":"), ensure_ascii=False) + "\n"))


if __name__ == "__main__":
    main()
