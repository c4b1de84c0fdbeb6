"""A vector that is 1 in a disc, dragged over bubbles: what its rim costs, and where its quotient lies."""

from __future__ import annotations

import ipywidgets as widgets
import numpy as np

from workbench.extensions.lessons.bubble_scenes import OF_DISC, disc_scene, place_of, quotient_scene
from workbench.extensions.lessons.bubbles import CELLS, eigenvalues, five_bubbles, rim
from workbench.extensions.lessons.page.pointing import MARKING, Pointing
from workbench.live.plots.chart import ChartView, Handle, HandledChart
from workbench.live.transport.worker import LatestOnly
from workbench.live.ui.controls import column, row
from workbench.live.ui.status import StatusLine
from workbench.live.ui.view import WorkingView
from workbench.words.numbers import count, counted, number

MIDDLE, RIM = "middle", "rim"
SMALLEST, LARGEST = 0.6, 14.0
"""Radii of the disc in cells."""
SNAP = 0.45
"""Distance in cells up to which the disc settles on a bubble of its size."""
START = (12.5, 14.5)


class DiscVector(WorkingView):
    """v is 1 in the cells that a disc covers and 0 elsewhere. Display it, or `box`; the disc is dragged over five
    bubbles, by the pointer or by the arrow keys, and its rim makes it larger.

    A second plot has the eigenvalues of M^-1 A, M being the diagonal of A, and (v, A v)/(v, D v). Cost: a dense
    spectrum of 576 unknowns, once for all pages of a server; then a millisecond a move.

    Examples:
        >>> from workbench.live import DiscVector
        >>> view = DiscVector()
        >>> view.cover(1)
        >>> f"{view.quotient:.4f}"
        '0.0006'
        >>> view.close()
    """

    def __init__(self) -> None:
        bubbles = five_bubbles()
        self.middle, self.radius = np.array(START), bubbles.radius
        self.marked = ""
        """The key of `OF_DISC` that the pictures mark."""
        self._worker = LatestOnly("workbench-disc")
        plots = {key: int(key in ("quotient", "tiny")) for key in OF_DISC}
        self.pointing = Pointing(OF_DISC, lambda key: self._worker.ask(lambda: self.mark(key), MARKING), plots)
        self.chart = HandledChart(lambda key, x, y: self._worker.ask(lambda: self._drag(key, x, y)))
        self.spectrum = ChartView(self.chart.publisher, height=200)
        self.words = StatusLine()
        plots = row("wb-twocolumns", self.chart, column("", self.spectrum, self.words)).add_class("wb-square")
        self.box = widgets.VBox([plots, self.pointing]).add_class("wb").add_class("wb-disc")
        self._show()

    @property
    def cells(self) -> np.ndarray:
        """True where v is 1, shape (n, n): the cells of a bubble where the disc all but covers it."""
        bubbles = five_bubbles()
        far = np.hypot(*(bubbles.centres - self.middle).T)
        near = int(far.argmin())
        if far[near] <= SNAP and abs(self.radius - bubbles.radius) <= SNAP:
            return bubbles.labels == near + 1
        return bubbles.disc(self.middle.tolist(), self.radius)

    @property
    def quotient(self) -> float:
        """(v, A v)/(v, D v); NaN where the disc covers no cell."""
        return rim(self.cells, five_bubbles().labels > 0).quotient

    def cover(self, bubble: int) -> None:
        """Put the disc onto a bubble, counted from 1."""
        self.middle, self.radius = five_bubbles().centres[bubble - 1].copy(), five_bubbles().radius
        self._show()

    def mark(self, key: str) -> None:
        """Mark what a key of `OF_DISC` names, such as "rim"; "" marks nothing."""
        self.marked = key
        self._show()

    def _drag(self, key: str, x: float, y: float) -> None:
        at = np.clip([x, y], 0, CELLS - 1)
        if key == MIDDLE:
            self.middle = at
        elif key == RIM:
            self.radius = float(np.clip(np.hypot(*(at - self.middle)), SMALLEST, LARGEST))
        self._show()

    def _show(self) -> None:
        bubbles = five_bubbles()
        cells = self.cells
        edge, values = rim(cells, bubbles.labels > 0), eigenvalues(0)
        self.chart.show(disc_scene(bubbles, cells, edge, self.marked))
        self.spectrum.show(quotient_scene(values, edge.quotient, self.marked))
        x, y = self.middle.tolist()
        side = x + self.radius if x + self.radius <= CELLS - 1 else x - self.radius
        self.chart.place(
            [
                Handle(MIDDLE, "middle of the disc", x, y, around=self.radius),
                Handle(RIM, "rim of the disc", side, y, square=True),
            ]
        )
        self.words.say(sentence(cells, edge.cost, edge.curvature, edge.diagonal, values))


def sentence(cells: np.ndarray, cost: np.ndarray, curvature: float, diagonal: float, values: np.ndarray) -> str:
    """The numbers of the picture: cells, faces by their cost, both sums, the quotient, and its place."""
    if not cells.any():
        return "The disc covers the middle of no cell."
    kinds = [(1.0, "1"), (2e-3, "0.002"), (1e-3, "0.001")]
    found = [(int(np.isclose(cost, each, rtol=0.01).sum()), word) for each, word in kinds]
    faces = ", ".join(f"{count(many)} × {word}" for many, word in found if many)
    quotient = curvature / diagonal
    return (
        f"v is 1 in {counted(int(cells.sum()), 'cell')}. Faces of its rim: {faces or 'none'}, so (v, Av) = "
        f"{number(curvature)}; (v, Dv) = {number(diagonal)}. The quotient is {number(quotient)}: "
        f"{place_of(values, quotient)}."
    )
