"""Pictures under the bubbles on the canvas, and their painter: cells inside, boundaries of the subdomains."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.deflation import Deflation
from workbench.deflation.none import NoDeflation
from workbench.errors import InputError
from workbench.live.builders.bubble_model import Drawing
from workbench.live.transport.worker import LatestOnly
from workbench.plots.figures import boundaries
from workbench.plots.scenes.cuts import Cut
from workbench.problems.bubble_geometry import Geometry
from workbench.words.numbers import count, ordinal

SIDES = {2: (128, 512), 3: (32, 128)}
"""Cells per side that are drawn at most: few while bubbles are moved, more when they rest."""
REST = 0.15
"""Seconds without a change after which subdomains are drawn with more cells."""


@dataclasses.dataclass(frozen=True)
class PictureRequest:
    """A picture to draw. normal, position: of the section in 3D, in side lengths."""

    drawing: Drawing
    deflation: Deflation
    normal: str = "z"
    position: float = 0.5

    @property
    def sides(self) -> tuple[int, ...]:
        """Cells per side to draw with, coarse first; the last is the problem's own n where that is not too many."""
        n = self.drawing.parameters.n
        return tuple(sorted({min(n, side) for side in SIDES[self.drawing.dimensions]}))


def picture(request: PictureRequest, cells: int) -> tuple[dict[str, Any], bytes]:
    """The message for the browser and its buffer: a byte a pixel, 1 inside, then float32 segments of 4 numbers.

    cells: per side, drawn with; the problem's own or fewer. Row 0 lies at the bottom of the picture. Cost: a few passes
    over the cells.
    """
    drawing = request.drawing
    grid = (cells,) * drawing.dimensions
    phase, missed = _phase(drawing, cells)
    cut = Cut(grid, request.normal, int(request.position * cells))
    plane, (across, up) = cut.plane(phase), cut.sides
    pixels = (plane > 0).astype(np.uint8)
    notes = (
        [] if cells == drawing.parameters.n else [f"drawn with {cells} cells a side instead of {drawing.parameters.n}"]
    )
    if missed:
        notes.append(f"without {missed} {'bubble' if missed == 1 else 'bubbles'} too small for that")
    lines = np.empty((0, 4))
    try:
        labels = request.deflation.labels(phase.size, grid, phase.reshape(-1))
    except InputError as error:
        # Fewer cells than the problem's may be too few for subdomains that it has room for.
        notes.append(str(error) if cells == drawing.parameters.n else "subdomains are too fine to be drawn")
    else:
        if labels is not None:
            found = boundaries(cut.plane(labels.reshape(grid)))
            lines = found.segments
            notes.append(_reported(labels, cells == drawing.parameters.n, found.step))
        elif not isinstance(request.deflation, NoDeflation):
            notes.append(f"deflation {request.deflation.name} has vectors instead of subdomains, so none are drawn")
    message = {
        "width": pixels.shape[1],
        "height": pixels.shape[0],
        "cells": cells,
        "n": drawing.parameters.n,
        "across": across,
        "up": up,
        "segments": len(lines),
        "note": "; ".join(notes),
    }
    return message, pixels.tobytes() + lines.astype(np.float32).tobytes()


def _phase(drawing: Drawing, cells: int) -> tuple[np.ndarray, int]:
    """The bubble of each cell, and the number of bubbles without a cell of this grid."""
    values = np.array(drawing.rows).reshape(-1, drawing.dimensions + 1)
    if not values.size:
        return np.zeros((cells,) * drawing.dimensions, np.int32), 0
    geometry = Geometry(values[:, :-1], values[:, -1])
    covered = geometry.holds_cells(cells)
    if not covered.any():
        return np.zeros((cells,) * drawing.dimensions, np.int32), covered.size
    return Geometry(geometry.centres[covered], geometry.radii[covered]).paint(cells), int(np.count_nonzero(~covered))


def _reported(labels: np.ndarray, whole: bool, step: int) -> str:
    """The subdomains in words; coarser cells have another number of them, which is not stated."""
    named = f"{count(int(labels.max()) + 1)} deflation subdomains" if whole else "deflation subdomains"
    return f"{named}, every {ordinal(step)} boundary drawn" if step > 1 else named


class BubblePainter:
    """Draws in a thread of its own. request: returns the picture to draw now. show: takes each message with its
    buffer."""

    def __init__(self, request: Callable[[], PictureRequest], show: Callable[[dict[str, Any], bytes], None]) -> None:
        self._request = request
        self._show = show
        self._worker = LatestOnly("workbench-subdomains")
        self._painted: PictureRequest | None = None

    def ask(self) -> None:
        """Draw again if something has changed; returns at once."""
        self._worker.ask(self._paint)

    def wait(self, timeout: float) -> bool:
        """Wait until all is drawn; False when that takes longer than `timeout` seconds."""
        return self._worker.wait(timeout)

    def close(self) -> None:
        """Draw no more."""
        self._worker.close()

    def _paint(self) -> None:
        """Draw with few cells at once, and with more when nothing has changed for `REST` seconds."""
        request = self._request()
        if request == self._painted:
            return
        self._painted = None
        for number, cells in enumerate(request.sides):
            if number and self._worker.overtaken(REST):
                return
            self._show(*picture(request, cells))
        self._painted = request
