"""Facts and pictures of a matrix, gathered once, so that a large one need not be kept; those of samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from html import escape

import ipywidgets as widgets
import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.live.builders.matrix_levels import reason_of
from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import MOST_PIXELS, Scene
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button
from workbench.operators import ComplexSymmetricMatrix, Matrix, Operator
from workbench.operators.matrix_checks import SYMMETRY_TOLERANCE
from workbench.plots.figures import pattern_counts
from workbench.problems import LinearSystem, Problem
from workbench.problems.stand_in import StandIn
from workbench.run.choices.levels import Chosen
from workbench.words.numbers import amount, count, rounded, span, tick

MOST_ENTRIES = 1 << 25
"""Entries that are counted for the picture of a pattern; of a matrix with more, every k-th row is counted."""
MOST_KEPT = 1 << 22
"""Entries of a matrix that is kept while it is shown, so that its parts can be grown again."""

SAMPLES = {
    "1138_bus": "Random graph: its Laplacian",
    "bcsstk15": "Stiffness: elastic bonds",
    "helm_fem": "Helmholtz: complex symmetric",
}
"""Matrices that are generated here, by the real one that they stand in for."""
THUMB = 200
"""Height of the picture of a sample, in pixels."""


@dataclasses.dataclass(frozen=True, eq=False)
class Facts:
    """scene: the sparsity pattern. lengths: entries of each row, shape (N,). rows: facts in words, by name. like: the
    identity as a matrix of the same size, dtype and symmetry, which the rules for methods take for A. flat: A maps
    constants to zero. matrix: A itself where it has at most `MOST_KEPT` entries, with the places of its unknowns where
    they are known, shape (N, 2) or (N, 3); note: why a file of places is not taken. levels: those of a run that names
    none; None where they are no choice by the size and the rows of A."""

    scene: Scene
    lengths: np.ndarray
    rows: dict[str, str]
    like: Matrix
    flat: bool
    matrix: Matrix | None = None
    places: np.ndarray | None = None
    note: str = ""
    levels: Chosen | None = None


def facts(problem: Problem, choose: Callable[[Operator], Chosen | None] = lambda _operator: None) -> Facts:
    """Read a problem's matrix and look at it. choose: returns the levels of a run on it that names none. Cost:
    assembling it, twice if it is complex symmetric, then a pass over its indices.

    Raises InputError for a matrix that cannot be read, that no method solves with, and for an operator without entries.
    """
    operator = _assembled(problem).operator
    matrix = operator.to_csr()
    lengths = np.diff(matrix.indptr).astype(np.int64)
    size, entries = lengths.size, int(matrix.nnz)
    every = -(-entries // MOST_ENTRIES)
    if not entries:
        raise InputError(f"{problem.label} has no entries, so there is nothing to see")
    counts = pattern_counts(matrix, MOST_PIXELS // 2, every)
    sample = (f"every {every}th row is drawn",) if every > 1 else ()
    is_complex = matrix.dtype.kind == "c"
    diagonal = matrix.diagonal().real
    stored = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    bound = tick(SYMMETRY_TOLERANCE, powers=True)
    kind = ComplexSymmetricMatrix if isinstance(operator, ComplexSymmetricMatrix) else Matrix
    like = kind(sparse.csr_array(sparse.eye_array(size, dtype=matrix.dtype, format="csr")))
    symmetry = "complex symmetric" if kind is not Matrix else "Hermitian" if is_complex else "symmetric"
    rows = {
        "unknowns N": count(size),
        "entries (nnz)": count(entries),
        "density": f"{100 * entries / size**2:.3g} %",
        "entries per row": f"{span(int(lengths.min()), int(lengths.max()), count)}, {lengths.mean():.3g} on average",
        symmetry: f"yes, to {bound} of the largest entry",
        "diagonal" if kind is Matrix else "diagonal, real part": span(diagonal.min(), diagonal.max(), rounded),
        "values": f"{'complex' if is_complex else 'real'}, {matrix.dtype}",
        "memory": amount(stored),
    }
    flat = bool(np.abs(matrix.sum(axis=1)).max() <= SYMMETRY_TOLERANCE * np.abs(matrix.data).max())
    if levels := choose(operator):
        rows["levels by default"] = reason_of(levels)
    scene = Scene(problem.label, counts, True, size, notes=sample)
    found = Facts(scene, lengths, rows, like, flat, levels=levels)
    if entries > MOST_KEPT or not isinstance(operator, Matrix):
        rows["parts"] = f"drawn for at most {count(MOST_KEPT)} entries"
        return found
    try:
        return dataclasses.replace(found, matrix=operator, places=problem.coordinates())
    except InputError as error:
        return dataclasses.replace(found, matrix=operator, note=f"Its coordinates are not used: {error}.")


def _assembled(problem: Problem) -> LinearSystem:
    """A problem's system, as a method that fits its matrix takes it."""
    try:
        return problem.assemble()
    except InputError as error:
        if not error.changes:
            raise
        return problem.assemble_complex_symmetric()


def facts_table(rows: dict[str, str]) -> str:
    """Facts by name as a table in HTML."""
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items()
    )
    return f"<table class='wb-table wb-facts'>{lines}</table>"


class MatrixSamples:
    """Pictures of the samples, each with a button that chooses it. Display `box`. They are made when first shown."""

    def __init__(self, choose: Callable[[str], object], publisher: Publisher | None) -> None:
        self._choose, self._publisher = choose, publisher
        self._worker = LatestOnly("workbench-samples")
        self.box = widgets.HBox().add_class("wb-pictures").add_class("wb-samples")
        self.pictures: dict[str, FieldView] = {}

    def show(self, shown: bool) -> None:
        """Show them, or hide them behind a matrix that was chosen."""
        self.box.layout.display = None if shown else "none"
        for view in self.pictures.values():
            view.link.hidden = not shown

    def appear(self) -> None:
        """Make the pictures, since their page is in front."""
        if not self.pictures:
            self.pictures = {of: FieldView(self._publisher, height=THUMB, choices=False) for of in SAMPLES}
            self.box.children = [self._card(of, view) for of, view in self.pictures.items()]
            self._worker.ask(self._draw)

    def wait(self, timeout: float) -> bool:
        """Wait until they are drawn; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Draw no more."""
        self._worker.close()

    def _card(self, of: str, view: FieldView) -> widgets.Box:
        press = button(SAMPLES[of], f"generated here, of the size of {of}", lambda: self._choose(of))
        return widgets.VBox([press, view]).add_class("wb-card")

    def _draw(self) -> None:
        for of, view in self.pictures.items():
            found = facts(StandIn(of=of))
            view.show(dataclasses.replace(found.scene, title=f"{count(found.scene.unknowns)} unknowns"))
