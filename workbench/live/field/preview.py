"""The picture of a problem before it is run; large grids are drawn with fewer cells."""

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
from workbench.problems.suitesparse import SuiteSparse
from workbench.run import Configuration
from workbench.words.numbers import count as grouped

SIDES = (24, 96, 1024)
"""Cells per side that are tried: few to learn the dimensions, more for the picture itself."""
MOST_CELLS = 1 << 20
"""Cells above which no finer grid is tried, and cells of a constant field at most."""
MOST_BYTES = 1 << 25
"""Bytes of the largest matrix that is read for a picture alone."""


class NotYetError(Exception):
    """Nothing can be drawn before the run; the message gives the reason, which is no mistake of the user."""


class UnfitError(InputError):
    """A choice that cannot be run, found by the check of the run. kind: that of the block to change."""

    def __init__(self, kind: str, error: InputError) -> None:
        super().__init__(str(error), changes=error.changes)
        self.kind = kind


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a problem, or coarser ones.

    phase: of each cell; None for a problem without phases. are_final: True if the run has these cells. operator: A of
    these cells: that of the run, or one of its kind with fewer unknowns.
    """

    scene: Scene
    phase: np.ndarray | None
    are_final: bool
    operator: Operator


class Preview:
    """Scenes of problems that are not run yet; the cells of the last problem are kept while its deflation changes."""

    def __init__(self) -> None:
        self._drawn: tuple[Problem, bool] | None = None
        """The problem of the cells, and True if its A was made complex symmetric."""
        self._cells: Cells | None = None

    @property
    def is_final(self) -> bool:
        """True if the last scene showed the cells that the run will have."""
        return self._cells is not None and self._cells.are_final

    def operator(self, configuration: Configuration) -> Operator | None:
        """A of a configuration, or one of its kind with fewer unknowns.

        None where only the run assembles it, and where something outside the form, such as a missing file, prevents it.
        Raises InputError for a choice that another one corrects.
        """
        try:
            return self._cells_of(configuration.problem, symmetric=configuration.solver.complex_symmetric).operator
        except NotYetError:
            return None
        except InputError as error:
            if error.changes:
                raise
            return None

    def operator_shown(self, configuration: Configuration) -> Operator | None:
        """A of a configuration if its problem was drawn last, else None; assembles nothing."""
        shown = self._drawn == (configuration.problem, configuration.solver.complex_symmetric)
        return self._cells.operator if shown and self._cells else None

    def scene(self, configuration: Configuration) -> Scene:
        """The scene of a configuration.

        Raises NotYetError where only the run will show it, UnfitError for a configuration that cannot be run, and
        InputError for one that can be run but not drawn.
        """
        deflation = configuration.deflation
        cells = self._cells_of(configuration.problem, symmetric=configuration.solver.complex_symmetric)
        plain = cells.scene
        grid = None if plain.is_matrix else plain.values.shape
        try:
            # A of fewer unknowns has other parts than that of the run.
            if deflation.by_entries and cells.operator.shape[0] == plain.unknowns:
                labels = deflation.labels_of(cells.operator, grid, cells.phase)
            else:
                labels = deflation.labels(plain.unknowns, grid, cells.phase)
        except InputError as error:
            if cells.are_final:
                raise UnfitError(deflation.kind, error) from None
            labels = None
        shown = plain.with_labels(labels)
        # Of coarser cells the shapes of subdomains are shown, but not their number, which differs from that of the run.
        return shown if cells.are_final else dataclasses.replace(shown, notes=plain.notes)

    def _cells_of(self, problem: Problem, *, symmetric: bool) -> Cells:
        """The cells of a problem, kept for the next call. symmetric: A is made complex symmetric, A = A^T."""
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
        return Cells(scene(problem.label, system), system.phase, are_final=True, operator=system.operator)
    system, drawn = _coarse_enough(problem, side)
    if drawn < side and system.coefficient is None:
        return _constant(problem.label, side, len(system.grid or ()), system.operator)
    shown = scene(problem.label, system)
    if drawn < side:
        shown = dataclasses.replace(shown, notes=(f"drawn with n = {drawn} until the run starts",))
    return Cells(shown, system.phase, are_final=drawn == side, operator=system.operator)


def _constant(title: str, side: int, dimensions: int, operator: Operator) -> Cells:
    """A field of ones, which needs no assembly. side: cells per side in the run."""
    drawn = min(side, int(MOST_CELLS ** (1 / dimensions)))
    size = drawn**dimensions
    note = f"{grouped(size)} unknowns" if drawn == side else "constant coefficient"
    ones = Scene(title, np.broadcast_to(1.0, (drawn,) * dimensions), unknowns=size, notes=(note,))
    return Cells(ones, None, are_final=drawn == side, operator=operator)


def _coarse_enough(problem: Problem, cells: int) -> tuple[LinearSystem, int]:
    """The problem on a grid of at most `cells` per side that a picture can show, and the cells per side of that grid.

    Finer grids of `SIDES` are tried one after the other, up to the first with more than `MOST_CELLS` or with a constant
    coefficient. Raises the error of the finest grid if none can be assembled, NotYetError if only a fine one could.
    """
    made: tuple[LinearSystem, int] | None = None
    failure: InputError | None = None
    for side in sorted({min(cells, side) for side in SIDES}):
        if made and (made[0].coefficient is None or side ** len(made[0].grid or ()) > MOST_CELLS):
            break
        # As long as the dimensions are unknown, the finest grid could be a cube that fits no memory.
        if failure and side > SIDES[1]:
            raise NotYetError(f"too fine to be drawn before the run starts: {failure}")
        try:
            made, failure = (_assembled(problem.changed({"n": side})), side), None
        # A small bubble has no cell of a coarse grid.
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
        if not problem.at_hand:
            raise NotYetError(f"{problem.label} is downloaded when the run starts")
        return
    if isinstance(problem, StandIn) and BYTES_PER_ENTRY * problem.entries > MOST_BYTES:
        raise NotYetError(f"{problem.label} is large; its pattern appears when the run starts")
    path = problem.parameter_values.get("path", "")
    if path and Path(path).is_file() and os.path.getsize(path) > MOST_BYTES:
        raise NotYetError(f"{problem.label} is a large file; its pattern appears when the run starts")
