"""The picture of a problem before it is run, made cheaply: large grids are drawn with fewer cells."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np

from workbench.errors import InputError
from workbench.live.field.pictures import Scene, scene
from workbench.operators import Operator
from workbench.problems import LinearSystem, Problem
from workbench.problems.stand_in import BYTES_PER_ENTRY, StandIn
from workbench.problems.suitesparse import SuiteSparse, cache_folder, group_and_name
from workbench.run import Configuration
from workbench.words.numbers import count as grouped

SIDES = (24, 96, 1024)
"""Cells per side that are tried: few to learn the dimensions, more for the picture itself."""
MOST_CELLS = 1 << 20
MOST_BYTES = 1 << 25
"""The largest matrix file that is read for a picture alone."""


class NotYetError(Exception):
    """Nothing can be drawn before the run; the message says why. This is no mistake of the user's."""


class UnfitError(InputError):
    """A choice that cannot be run, by the same check as in the run. kind: of the block at fault."""

    def __init__(self, kind: str, error: InputError) -> None:
        super().__init__(str(error), changes=error.changes)
        self.kind = kind


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """A problem's cells: their scene, the phase of each, and whether they are the problem's own or coarser ones."""

    scene: Scene
    phase: np.ndarray | None
    whole: bool
    operator: Operator
    """A of these cells: that of the run, or one of its kind with fewer unknowns."""


class Preview:
    """Scenes of problems that are not run yet; the last problem's cells are kept while its deflation changes."""

    def __init__(self) -> None:
        self._drawn: tuple[Problem, bool] | None = None
        self._cells: Cells | None = None

    @property
    def whole(self) -> bool:
        """True if the last scene showed the problem's own cells."""
        return self._cells is not None and self._cells.whole

    def operator(self, configuration: Configuration) -> Operator | None:
        """A of a configuration, or one of its kind; None where only the run assembles it, and where something outside
        the form, such as a missing file, prevents it. Raises InputError for a choice that another one corrects."""
        try:
            return self._cells_of(configuration.problem, symmetric=configuration.solver.complex_symmetric).operator
        except NotYetError:
            return None
        except InputError as error:
            if error.changes:
                raise
            return None

    def operator_shown(self, configuration: Configuration) -> Operator | None:
        """A of a configuration, if its problem was drawn last; else None."""
        shown = self._drawn == (configuration.problem, configuration.solver.complex_symmetric)
        return self._cells.operator if shown and self._cells else None

    def scene(self, configuration: Configuration) -> Scene:
        """The scene of a configuration. Raises NotYetError where only the run will show it, UnfitError for a
        configuration that cannot be run, and InputError for one that can be run but not drawn."""
        deflation = configuration.deflation
        cells = self._cells_of(configuration.problem, symmetric=configuration.solver.complex_symmetric)
        plain = cells.scene
        grid = None if plain.is_matrix else plain.values.shape
        try:
            labels = deflation.labels(plain.unknowns, grid, cells.phase)
        except InputError as error:
            if cells.whole:
                raise UnfitError(deflation.kind, error) from None
            labels = None
        shown = plain.with_labels(labels)
        # The number of subdomains of coarser cells is not that of the run, so only their shapes are shown.
        return shown if cells.whole else dataclasses.replace(shown, notes=plain.notes)

    def _cells_of(self, problem: Problem, *, symmetric: bool) -> Cells:
        """The cells of a problem, kept for the next call. symmetric: with A = A^T, as some methods need it."""
        if self._cells is None or self._drawn != (problem, symmetric):
            self._cells = None
            self._cells = _cells(problem, symmetric=symmetric)
            self._drawn = problem, symmetric
        return self._cells


def _cells(problem: Problem, *, symmetric: bool) -> Cells:
    """The problem's cells, or coarser ones where they are too many."""
    side = problem.per_side
    if side is None:
        check_size(problem)
        # An error here may be corrected outside the form, as that of a missing file, so Run stays enabled.
        system = problem.assemble_complex_symmetric() if symmetric else problem.assemble()
        return Cells(scene(problem.label, system), system.phase, True, system.operator)
    system, drawn = _small_system(problem, side)
    if drawn < side and system.coefficient is None:
        return _constant(problem.label, side, len(system.grid or ()), system.operator)
    shown = scene(problem.label, system)
    if drawn < side:
        shown = dataclasses.replace(shown, notes=(f"drawn with n = {drawn} until the run starts",))
    return Cells(shown, system.phase, drawn == side, system.operator)


def _constant(title: str, side: int, dimensions: int, operator: Operator) -> Cells:
    """A field of ones, for which nothing needs to be assembled."""
    drawn = min(side, int(MOST_CELLS ** (1 / dimensions)))
    size = drawn**dimensions
    note = f"{grouped(size)} unknowns" if drawn == side else "constant coefficient"
    ones = Scene(title, np.broadcast_to(1.0, (drawn,) * dimensions), unknowns=size, notes=(note,))
    return Cells(ones, None, drawn == side, operator)


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
            made, failure = (_assembled(problem.changed({"n": side})), side), None
        # Small bubbles hold no cell of a coarse grid.
        except InputError as error:
            failure = error
    if made is None:
        raise failure or InputError(f"{problem.label} cannot be drawn")
    return made


def _assembled(problem: Problem) -> LinearSystem:
    try:
        return problem.assemble()
    except InputError as error:
        raise UnfitError(problem.kind, error) from None


def check_size(problem: Problem) -> None:
    """Raise NotYetError for a problem that would take long: a download, or a large file."""
    if isinstance(problem, SuiteSparse):
        group, name = group_and_name(problem.matrix)
        folder = cache_folder() / "suitesparse" / group
        if not any((folder / f"{name}{ending}").exists() for ending in (".tar.gz", ".mtx.gz", ".mtx")):
            raise NotYetError(f"{problem.label} is downloaded when the run starts")
        return
    if isinstance(problem, StandIn) and BYTES_PER_ENTRY * problem.entries > MOST_BYTES:
        raise NotYetError(f"{problem.label} is large; its pattern appears when the run starts")
    path = problem.parameter_values.get("path", "")
    if path and Path(path).is_file() and os.path.getsize(path) > MOST_BYTES:
        raise NotYetError(f"{problem.label} is a large file; its pattern appears when the run starts")
