"""Common style of figures: a colour-blind-safe palette, dashes and markers."""

from __future__ import annotations

import dataclasses
import io

from matplotlib.figure import Figure

# Okabe and Ito 2008, "Color universal design". Their yellow is omitted because it is faint on white; their orange and
# sky blue are darker here, so that every colour has a contrast of at least 3:1 on light and dark pages. Black is the
# exception: pages replace it by their text colour.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c48700", "#4a9bc9", "#000000")
DASHES = ((), (6.0, 2.0), (2.0, 1.5), (6.0, 2.0, 1.5, 2.0), (10.0, 3.0))
MARKERS = ("o", "s", "^", "D", "v", "x")


@dataclasses.dataclass(frozen=True)
class CurveStyle:
    """Colour, dash and marker of a curve. dash: lengths on and off in points; () is solid."""

    colour: str
    dash: tuple[float, ...]
    marker: str

    @property
    def linestyle(self) -> str | tuple[float, tuple[float, ...]]:
        """The dash as Matplotlib's linestyle."""
        return (0.0, self.dash) if self.dash else "-"


def curve_style(index: int) -> CurveStyle:
    """The style of the index-th run; colour and dash together repeat after 35 runs."""
    return CurveStyle(COLOURS[index % 7], DASHES[index % 5], MARKERS[index % 6])


CURVES = tuple(curve_style(index) for index in range(35))


class NotebookFigure(Figure):
    """A figure that notebooks display without pyplot, which IPython's own formatter needs."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> Figure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return NotebookFigure(figsize=(width, height), layout="compressed" if square else "constrained")
