"""Of each block a picture of what it does, computed on a small problem and kept by what it was computed from."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import workbench.run  # noqa: F401  registers every block
from scripts.site import kept
from scripts.site.blocks import KINDS
from scripts.site.figures import SCHEMES, drawn_twice
from scripts.site.notebooks import picture as in_markdown
from scripts.site.places import SOURCE
from workbench.errors import InputError
from workbench.live.field.pictures import plane_of
from workbench.live.field.preview import NotYetError, Preview
from workbench.plots import figures, scenes
from workbench.plots.figures.style import NotebookFigure
from workbench.registry import blocks as registry
from workbench.run import Configuration, Run, Stopping, configure, run_through
from workbench.run.choices.share_link import to_link
from workbench.solvers.block.base import BlockSolver
from workbench.spectra import spectra

SIDES = {2: 96, 3: 32}
"""Cells per side that are drawn, by the sides of the grid."""
TO_ROUNDING = Stopping(rtol=1e-13, maxiter=400)
SEVERAL = ("mpcg", "mpcg-adaptive", "mpgmres", "sum-cg")
"""Solvers of several preconditioners."""
Shown = tuple[str, NotebookFigure, Configuration]
"""A sentence about a picture, the picture, and the configuration that it shows."""


@dataclasses.dataclass(frozen=True)
class Drawn:
    """The picture of a block. words: a sentence about it, or why there is none. alt: what is seen. link: a share link
    of what it shows. file: its files without the scheme and the ending; "" for none."""

    words: str
    alt: str = ""
    link: str = ""
    file: str = ""

    @property
    def markdown(self) -> str:
        """The picture for the page of its block."""
        return f"{self.at('../pictures')}\n\n{self.words}" if self.file else self.words

    def at(self, folder: str, look: str = "figure") -> str:
        """The picture in both colour schemes, from a page to which `folder` is the way."""
        both = (in_markdown(self.alt, f"{folder}/{self.file}.{each}.svg", each, look) for each in SCHEMES)
        return "".join(both) if self.file else ""


def problem(name: str) -> Shown:
    """The coefficient of a problem, or its solution where that is one number, or the entries of its matrix."""
    chosen = configure(name)
    grid = chosen.problem.grid
    if grid is not None and "n" in (each.name for each in chosen.problem.parameters()):
        chosen = configure(name, n=SIDES[len(grid)])
    scene, words = Preview().scene(chosen), "Its coefficient"
    if scene.is_matrix:
        return "The entries of its matrix.", figures.draw_plane(plane_of(scene, "z", 0)), chosen
    if scene.values.min() == scene.values.max():
        result = run_through(Run(chosen))
        values = result.x.reshape(chosen.problem.grid)
        scene, words = dataclasses.replace(scene, values=values, bar="solution x", even=True), "Its solution"
    flat = len(scene.values.shape) == 2
    normal, index = ("z", 0) if flat else ("y", scene.values.shape[1] // 2)
    where = "." if flat else ", in a plane through the middle."
    return f"{words}{where}", figures.draw_plane(plane_of(scene, normal, index)), chosen


def preconditioner(name: str) -> Shown:
    """The spectrum before and after a first level."""
    chosen = configure("two-layer", n=12, preconditioner=name)
    found = spectra(chosen)
    return (
        "The eigenvalues of A before and after it, for two fluid layers on 12 × 12 cells, density ratio 0.001.",
        figures.draw(scenes.levels_scene(found)),
        chosen,
    )


def deflation(name: str) -> Shown:
    """The subdomains of a second level, or the spectrum of one without subdomains."""
    chosen = configure("bubbles-2d", n=96, deflation=name)
    scene = Preview().scene(chosen)
    if scene.labels is not None:
        count = scene.labels.max() + 1
        drawn = figures.draw_plane(plane_of(scene, "z", 0))
        return f"Its {count} subdomains, for bubbles on 96 × 96 cells.", drawn, chosen
    chosen = configure("bubbles-2d", n=24, deflation=name)
    drawn = figures.draw(scenes.levels_scene(spectra(chosen)))
    return "The eigenvalues of each level, for bubbles on 24 × 24 cells.", drawn, chosen


def coarse(name: str) -> Shown:
    """The residual with a second level by this coarse solver."""
    return _second_level(coarse=name)


def variant(name: str) -> Shown:
    """The residual with a second level combined in this way."""
    return _second_level(variant=name)


def _second_level(**choice: str) -> Shown:
    """The residual with a second level, and without."""
    settings = {"n": 64, "preconditioner": "neumann:2"}
    runs = [configure("bubbles-2d", **settings, **blocks) for blocks in ({}, {"deflation": "blocks:8", **choice})]
    return (
        "The residual with it, and without a second level, for bubbles on 64 × 64 cells with Neumann 2 and 64 blocks.",
        _residuals(runs, ["without a second level", f"with {next(iter(choice.values()))}"], tolerance=1e-6),
        runs[-1],
    )


def solver(name: str) -> Shown:
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
    return f"Its residual down to rounding, for {words}; rings are true residuals.", _residuals(runs), runs[0]


def _residuals(
    runs: list[Configuration], names: list[str] | None = None, *, tolerance: float | None = None
) -> NotebookFigure:
    """names: by default what distinguishes the runs."""
    records = [run_through(Run(each)).record() for each in runs]
    return figures.draw(scenes.convergence_scene(records, names, tolerance=tolerance))


def drawn(kind: str, name: str, folder: Path) -> Drawn:
    """Draw one into a folder, in both colour schemes."""
    try:
        words, figure, shown = globals()[kind](name)
    except (InputError, NotYetError) as reason:
        return Drawn(f"No picture here: {reason!s}.")
    for scheme, content in drawn_twice(figure, "svg").items():
        (folder / f"{kind}-{name}.{scheme}.svg").write_bytes(content)
    return Drawn(words, figure.words, to_link(shown), f"{kind}-{name}")


def pictures() -> dict[tuple[str, str], Drawn]:
    """Of each block its picture, whose files are put on the site. Cost: a minute of one core the first time."""
    here = Path(__file__)
    folder = kept.entry("blocks", here, here.with_name("figures.py"))
    blocks = [(kind, name) for kind in KINDS for name in registry.registered(kind)]
    if not folder.exists():
        # Notebooks are executed meanwhile.
        processes = max(1, (os.cpu_count() or 1) // 2)
        with kept.filled(folder) as made, ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            found = pool.map(drawn, *zip(*blocks, strict=True), [made] * len(blocks))
            records = [dataclasses.asdict(each) for each in found]
            (made / "words.json").write_text(json.dumps(records), encoding="utf-8")
    target = SOURCE / "blocks" / "pictures"
    target.mkdir(parents=True, exist_ok=True)
    for path in kept.used(folder).glob("*.svg"):
        shutil.copyfile(path, target / path.name)
    records = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    return {block: Drawn(**each) for block, each in zip(blocks, records, strict=True)}
