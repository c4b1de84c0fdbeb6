"""Of each block a picture of what it does, computed on a small problem and kept by what it was computed from."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from matplotlib.figure import Figure

import workbench.run  # noqa: F401  registers every block
from scripts.site.blocks import KINDS
from scripts.site.places import CACHE, SOURCE, digest, library
from workbench.errors import InputError
from workbench.live.field.pictures import plane_of
from workbench.live.field.preview import NotYetError, Preview
from workbench.plots import figures, scenes
from workbench.registry import blocks as registry
from workbench.run import Configuration, Run, Stopping, configure, run_through
from workbench.solvers.block.base import BlockSolver
from workbench.spectra import spectra

SIDES = {2: 96, 3: 32}
"""Cells per side that are drawn, by the sides of the grid."""
TO_ROUNDING = Stopping(rtol=1e-13, maxiter=400)
SEVERAL = ("mpcg", "mpcg-adaptive", "sum-cg")
"""Solvers of several preconditioners."""


def problem(name: str) -> tuple[str, Figure]:
    """The coefficient of a problem, or its solution where that is one number, or the entries of its matrix."""
    chosen = configure(name)
    grid = chosen.problem.grid
    if grid is not None and "n" in (each.name for each in chosen.problem.parameters()):
        chosen = configure(name, n=SIDES[len(grid)])
    scene, words = Preview().scene(chosen), "Its coefficient"
    if scene.is_matrix:
        return "The entries of its matrix.", figures.draw_plane(plane_of(scene, "z", 0))
    if scene.values.min() == scene.values.max():
        result = run_through(Run(chosen))
        values = result.x.reshape(chosen.problem.grid)
        scene, words = dataclasses.replace(scene, values=values, bar="solution x", even=True), "Its solution"
    flat = len(scene.values.shape) == 2
    normal, index = ("z", 0) if flat else ("y", scene.values.shape[1] // 2)
    where = "." if flat else ", in a plane through the middle."
    return f"{words}{where}", figures.draw_plane(plane_of(scene, normal, index))


def preconditioner(name: str) -> tuple[str, Figure]:
    """The spectrum before and after a first level."""
    found = spectra(configure("two-layer", n=12, preconditioner=name))
    return (
        "The eigenvalues of A before and after it, for two fluid layers on 12 × 12 cells, density ratio 0.001.",
        figures.draw(scenes.levels_scene(found)),
    )


def deflation(name: str) -> tuple[str, Figure]:
    """The subdomains of a second level, or the spectrum of one without subdomains."""
    chosen = configure("bubbles-2d", n=96, deflation=name)
    scene = Preview().scene(chosen)
    if scene.labels is not None:
        count = scene.labels.max() + 1
        return f"Its {count} subdomains, for bubbles on 96 × 96 cells.", figures.draw_plane(plane_of(scene, "z", 0))
    found = spectra(configure("bubbles-2d", n=24, deflation=name))
    return "The eigenvalues of each level, for bubbles on 24 × 24 cells.", figures.draw(scenes.levels_scene(found))


def coarse(name: str) -> tuple[str, Figure]:
    """The residual with a second level by this coarse solver."""
    return _second_level(coarse=name)


def variant(name: str) -> tuple[str, Figure]:
    """The residual with a second level combined in this way."""
    return _second_level(variant=name)


def _second_level(**choice: str) -> tuple[str, Figure]:
    """The residual with a second level, and without."""
    settings = {"n": 64, "preconditioner": "neumann:2"}
    runs = [configure("bubbles-2d", **settings, **blocks) for blocks in ({}, {"deflation": "blocks:8", **choice})]
    return (
        "The residual with it, and without a second level, for bubbles on 64 × 64 cells with Neumann 2 and 64 blocks.",
        _residuals(runs, ["without a second level", f"with {next(iter(choice.values()))}"], tolerance=1e-6),
    )


def solver(name: str) -> tuple[str, Figure]:
    """The residual of a solver down to rounding, next to that of CG."""
    cls = registry.lookup("solver", name)
    settings: dict[str, object] = {"n": 32, "preconditioner": "jacobi", "stopping": TO_ROUNDING}
    words, other = "two fluid layers on 32 × 32 cells", "cg"
    if issubclass(cls, BlockSolver):
        settings["rhs"], other = "random:4", "block-cg" if name == "pseudo-block-cg" else "pseudo-block-cg"
        words += " and four right-hand sides"
    if name in SEVERAL:
        settings["preconditioner"], other = "schwarz:2x2", "cg"
        words += " and four overlapping boxes"
    first = settings | ({"device": "opencl"} if cls.needs_accelerator or name == "hybrid3" else {})
    runs = [configure("two-layer", **first, solver=name)]
    if name != other:
        runs.append(configure("two-layer", **settings, solver=other))
    return f"Its residual down to rounding, for {words}; rings are true residuals.", _residuals(runs)


def _residuals(runs: list[Configuration], names: list[str] | None = None, *, tolerance: float | None = None) -> Figure:
    """names: by default what distinguishes the runs."""
    records = [run_through(Run(each)).record() for each in runs]
    return figures.draw(scenes.convergence_scene(records, names, tolerance=tolerance))


def drawn(kind: str, name: str) -> str:
    """Draw one into the cache; returns the sentence about it, or why there is none."""
    try:
        words, figure = globals()[kind](name)
    except (InputError, NotYetError) as reason:
        return f"No picture here: {reason!s}."
    figure.savefig(_kept(kind, name), format="svg", transparent=False)
    return words


def _folder() -> Path:
    return CACHE / "blocks" / f"{library()}-{digest(Path(__file__))}"


def _kept(kind: str, name: str) -> Path:
    return _folder() / f"{kind}-{name}.svg"


def pictures() -> dict[tuple[str, str], str]:
    """Of each block the Markdown of its picture. Cost: about a minute the first time."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    blocks = [(kind, name) for kind in KINDS for name in registry.registered(kind)]
    record = folder / "words.json"
    if not record.exists():
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
            words = list(pool.map(drawn, *zip(*blocks, strict=True)))
        record.write_text(json.dumps(words), encoding="utf-8")
    target = SOURCE / "blocks" / "pictures"
    target.mkdir(parents=True, exist_ok=True)
    found = {}
    for (kind, name), words in zip(blocks, json.loads(record.read_text(encoding="utf-8")), strict=True):
        kept = _kept(kind, name)
        if kept.exists():
            (target / kept.name).write_bytes(kept.read_bytes())
            found[kind, name] = f"![{words}](../pictures/{kept.name}){{ .figure }}\n\n{words}"
        else:
            found[kind, name] = words
    return found
