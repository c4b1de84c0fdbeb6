"""Parts of a matrix, as deflation `parts` grows them: of a chosen size, on the pattern and at the unknowns' places."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np

from workbench.deflation.grown import GrownParts
from workbench.errors import InputError
from workbench.jit import compile_time
from workbench.lazy import sparse
from workbench.live.field.field_view import FieldView
from workbench.live.field.pictures import MOST_PIXELS, PARTS, Scene
from workbench.live.plots.chart import ChartView
from workbench.live.transport.closing import close_all
from workbench.live.transport.publisher import Publisher
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import button, row
from workbench.live.ui.declared_form import Control, DeclaredForm
from workbench.live.ui.status import StatusLine
from workbench.operators import Matrix
from workbench.plots.scenes import parts as scenes
from workbench.registry import parameter
from workbench.spectra.graph_places import graph_places
from workbench.words.numbers import count, counted, duration, extent

GIVEN, SORTED = "given", "sorted"
ABOUT = "take deflation by these parts in Solve, which then runs on this matrix"
HEIGHT = 300


@dataclasses.dataclass(frozen=True)
class PartsState:
    """size: about, in unknowns. order: of rows and columns on the pattern."""

    size: int = parameter(GrownParts().size, "unknowns of a part, about", low=2, high=1_000_000)
    order: str = parameter(GIVEN, "of rows and columns", choices=(GIVEN, SORTED))


CONTROLS = (
    Control("size", "Unknowns per part"),
    Control("order", "Rows", looks={"kind": "segments", "choices": [[GIVEN, "as given"], [SORTED, "by part"]]}),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Grown:
    """Parts of a matrix of about `size` unknowns each. labels: shape (N,). neighbours: the pattern of E, shape (d, d).
    seconds: taken by growing them, without compiling."""

    size: int
    labels: np.ndarray
    neighbours: sparse.csr_array
    seconds: float

    @classmethod
    def of(cls, matrix: Matrix, size: int) -> Grown:
        """Grow them."""
        begun, compiled = time.perf_counter(), compile_time.spent()
        labels = GrownParts(size=size).labels_of(matrix, None)
        seconds = time.perf_counter() - begun - (compile_time.spent() - compiled)
        return cls(size, labels, scenes.touching(matrix.to_csr(), labels), seconds)

    @property
    def words(self) -> str:
        """Their number and sizes, the time, and the size of E, in a line."""
        sizes, parts = np.bincount(self.labels), self.neighbours.shape[0]
        each = extent(int(sizes.min()), int(sizes.max()), count)
        made = f"{counted(parts, 'part')} of {each} unknowns, grown in {duration(self.seconds)}"
        return f"{made}; E is {count(parts)} × {count(parts)} with {counted(self.neighbours.nnz, 'entry', 'entries')}."


class MatrixParts:
    """Display `form.box` among fields and `box` among pictures, both hidden until there is a matrix.

    use: called with the deflation of a size once that is to be used in Solve; None for no button.
    """

    def __init__(self, publisher: Publisher | None, use: Callable[[GrownParts], object] | None) -> None:
        self.form = DeclaredForm(PartsState(), CONTROLS, title="Parts of the graph", changed=lambda _: self._ask())
        self.line = StatusLine()
        self.pattern = FieldView(publisher, height=HEIGHT, choices=False)
        self.places = ChartView(publisher, height=HEIGHT)
        self._use = use
        self.button = button("Use in Solve", ABOUT, self._press)
        said = row("wb-buttons", self.line, *([self.button] if use else []))
        pictures = widgets.HBox([self.pattern, self.places]).add_class("wb-pictures").add_class("wb-matrix")
        self.box = widgets.VBox([said, pictures])
        self.grown: Grown | None = None
        self._matrix: Matrix | None = None
        self._given: np.ndarray | None = None
        self._placed: tuple[np.ndarray, tuple[str, str]] | None = None
        self._note = ""
        self._worker = LatestOnly("workbench-parts")
        self.show(None)

    def show(self, matrix: Matrix | None, places: np.ndarray | None = None, note: str = "") -> None:
        """Show the parts of a matrix, or none. places: of its unknowns, shape (N, 2) or (N, 3), where they are known;
        note: why a file of them was not taken."""
        self._matrix, self._given, self._placed, self._note, self.grown = matrix, places, None, note, None
        for box in (self.box, self.form.box):
            box.layout.display = "none" if matrix is None else None
        self.places.layout.display = "none"
        self._ask()

    def wait(self, timeout: float) -> bool:
        """Wait until the pictures are those of the fields; False when that takes longer."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Grow no more, and take the button off the page, which may be in no box."""
        self._worker.close()
        close_all(self.button)

    def _press(self) -> None:
        if self.grown is not None and self._use is not None:
            self._use(GrownParts(size=self.grown.size))
            self.line.say(f"{self.grown.words} Solve deflates by them.", "good")

    def _ask(self) -> None:
        self._worker.ask(self._look)

    def _look(self) -> None:
        matrix = self._matrix
        try:
            state = self.form.state
        except InputError:
            return
        if matrix is None:
            return
        size = min(state.size, matrix.shape[0])
        grown = self.grown
        if grown is None or grown.size != size:
            grown = Grown.of(matrix, size)
        styles = scenes.part_styles(grown.neighbours)
        rank = scenes.by_part(grown.labels) if state.order == SORTED else None
        csr = matrix.to_csr()
        drawn = scenes.parts_pattern(csr, grown.labels, styles, MOST_PIXELS // 2, rank)
        # Another matrix may have come meanwhile.
        if matrix is not self._matrix:
            return
        self.grown = grown
        self.line.say(" ".join(filter(None, (grown.words, self._note))))
        self.pattern.show(
            Scene("Parts on the pattern", drawn, True, matrix.shape[0], bar=PARTS, palette=scenes.PALETTE)
        )
        places = self._place(csr)
        if places is not None and matrix is self._matrix:
            self.places.show(scenes.parts_scene(places[0], grown.labels, styles, places[1]))
            self.places.layout.display = None

    def _place(self, csr: sparse.csr_array) -> tuple[np.ndarray, tuple[str, str]] | None:
        """The places of the unknowns in a plane, found once for each matrix, and the names of its axes."""
        if self._placed is None:
            try:
                given = self._given
                if given is None:
                    self._placed = graph_places(csr), ("rank in eigenvector 2 of the graph", "rank in eigenvector 3")
                else:
                    self._placed = given, ("x", "y") if given.shape[1] == 2 else ("x, slanted by y", "z, slanted by y")
            except InputError:
                return None
        return self._placed
