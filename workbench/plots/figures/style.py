"""Figures that notebooks display without pyplot."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that notebooks display without pyplot, which IPython's own formatter needs."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> Figure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return NotebookFigure(figsize=(width, height), layout="compressed" if square else "constrained")
