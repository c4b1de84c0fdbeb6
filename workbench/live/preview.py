"""The picture of a problem before it is run, made cheaply: large grids are drawn with fewer cells."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.live.pictures import Scene, scene
from workbench.problems import LinearSystem, Problem
from workbench.problems.suitesparse import SuiteSparse, cache_folder, group_and_name

SIDES = (24, 96, 1024)
"""Cells per side that are tried: few to learn the dimensions, more for the picture itself."""
MOST_CELLS = 1 << 20
MOST_BYTES = 1 << 25
"""The largest matrix file that is read for a picture alone."""


class NotYetError(Exception):
    """Nothing can be drawn before the run; the message says why. This is no mistake of the user's."""


class Preview:
    """Scenes of problems that are not run yet; the last problem's cells are kept while its deflation changes."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._scene: Scene | None = None
        self._is_whole = True

    def scene(self, problem: Problem, deflation: Deflation) -> Scene:
        """What to draw. Raises NotYetError where only the run will show it, InputError for wrong blocks."""
        if problem != self._problem or self._scene is None:
            self._problem, self._scene = None, None
            self._scene, self._is_whole = _cells(problem)
            self._problem = problem
        plain = self._scene
        grid = None if plain.is_matrix else plain.values.shape
        try:
            labels = deflation.labels(plain.unknowns, grid)
        except InputError:
            if self._is_whole:
                raise
            labels = None
        if self._is_whole:
            return plain.with_labels(labels)
        # The number of subdomains here is not that of the run, so only their shapes are shown.
        return dataclasses.replace(plain.with_labels(labels), notes=plain.notes)


def _cells(problem: Problem) -> tuple[Scene, bool]:
    """The scene without subdomains, and whether it is the problem itself and not a coarser one."""
    cells = getattr(problem, "n", None)
    if cells is None:
        _check_size(problem)
        return scene(problem.label, problem.assemble()), True
    system, side = _small_system(problem, cells)
    if side == cells:
        return scene(problem.label, system), True
    if system.coefficient is None:
        return _constant(problem.label, cells, len(system.grid or ()))
    coarse = dataclasses.replace(scene(problem.label, system), notes=(f"drawn with n = {side} until the run starts",))
    return coarse, False


def _constant(title: str, cells: int, dimensions: int) -> tuple[Scene, bool]:
    """A field of ones, for which nothing needs to be assembled."""
    side = min(cells, int(MOST_CELLS ** (1 / dimensions)))
    size = side**dimensions
    note = f"{size:,} unknowns" if side == cells else "constant coefficient"
    return Scene(title, np.broadcast_to(1.0, (side,) * dimensions), unknowns=size, notes=(note,)), side == cells


def _small_system(problem: Problem, cells: int) -> tuple[LinearSystem, int]:
    """The problem with as many cells as a picture needs, and their number per side."""
    made: tuple[LinearSystem, int] | None = None
    failure: InputError | None = None
    for side in sorted({min(cells, side) for side in SIDES}):
        if made and (made[0].coefficient is None or side ** len(made[0].grid or ()) > MOST_CELLS):
            break
        # Without dimensions known, the largest size could be a cube that no memory holds.
        if failure and side > SIDES[1]:
            raise NotYetError(f"too fine to be drawn before the run starts: {failure}")
        try:
            made, failure = (problem.changed({"n": side}).assemble(), side), None
        # Small bubbles hold no cell of a coarse grid.
        except InputError as error:
            failure = error
    if made is None:
        raise failure or InputError(f"{problem.label} cannot be drawn")
    return made


def _check_size(problem: Any) -> None:
    """Put off what would take long: a download, or a large file."""
    if isinstance(problem, SuiteSparse):
        group, name = group_and_name(problem.matrix)
        folder = cache_folder() / "suitesparse" / group
        if not any((folder / f"{name}{ending}").exists() for ending in (".tar.gz", ".mtx.gz", ".mtx")):
            raise NotYetError(f"{problem.label} is downloaded when the run starts")
        return
    path = getattr(problem, "path", "")
    if path and Path(path).is_file() and os.path.getsize(path) > MOST_BYTES:
        raise NotYetError(f"{problem.label} is a large file; its pattern appears when the run starts")
