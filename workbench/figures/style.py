"""Common style of figures: a colour-blind-safe palette, dashes and markers."""

from __future__ import annotations

import dataclasses
import io

from matplotlib.figure import Figure

# The first four differ by 10 or more in CIE Delta E under simulated protanopia, deuteranopia and tritanopia; all have a
# contrast of at least 3:1 on white. Pages with a dark ground show lighter ones in their place (static/ui/theme.js).
COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b5508a", "#6e5a00", "#3f434c", "#4a93c4", "#7a1f2b")
DASHES = (
    (), (7.0, 3.0), (2.0, 3.0), (9.0, 3.0, 2.0, 3.0), (12.0, 4.0), (4.0, 2.0), (2.0, 2.0, 7.0, 2.0),
    (14.0, 3.0, 2.0, 3.0, 2.0, 3.0),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "x", "+", "v", "*")


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
    """The style of the index-th run. Colour, dash and marker go together; each further eight runs have other dashes
    and markers with the same colours, so pairs repeat after 64 runs."""
    turn = index + index // 8
    return CurveStyle(COLOURS[index % 8], DASHES[turn % 8], MARKERS[turn % 8])


CURVES = tuple(curve_style(index) for index in range(64))


class NotebookFigure(Figure):
    """A figure that notebooks display without pyplot, which IPython's own formatter needs."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> Figure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return NotebookFigure(figsize=(width, height), layout="compressed" if square else "constrained")
