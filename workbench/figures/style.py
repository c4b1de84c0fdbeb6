"""What all pictures share: a colour-blind-safe palette, dashes and markers, and how a file is written."""

from __future__ import annotations

import dataclasses
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from workbench.errors import InputError

# Okabe and Ito 2008, "Color universal design"; their yellow is left out because it is faint on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ((), (6.0, 2.0), (2.0, 1.5), (6.0, 2.0, 1.5, 2.0), (10.0, 3.0))
MARKERS = ("o", "s", "^", "D", "v", "x")
PRINT: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "savefig.dpi": 200}
"""Text in files stays text, so that it can be searched and edited."""


@dataclasses.dataclass(frozen=True)
class CurveStyle:
    """How one run is told from another, without colour too. dash: lengths on and off in points; () is solid."""

    colour: str
    dash: tuple[float, ...]
    marker: str

    @property
    def linestyle(self) -> str | tuple[float, tuple[float, ...]]:
        """The dash as Matplotlib takes it."""
        return (0.0, self.dash) if self.dash else "-"


def curve_style(index: int) -> CurveStyle:
    """The style of the index-th run; colour and dash together repeat after 35 runs."""
    return CurveStyle(COLOURS[index % 7], DASHES[index % 5], MARKERS[index % 6])


CURVES = tuple(curve_style(index) for index in range(35))


class Shown(Figure):
    """A figure that a notebook shows as a picture. IPython knows how to do that only where pyplot was imported."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def new_figure(width: float, height: float, *, square: bool = False) -> Figure:
    """An empty figure, size in inches; 3.5 is one column of a journal. square: for axes of equal scale."""
    return Shown(figsize=(width, height), layout="compressed" if square else "constrained")


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure in the format that the ending names, whole or not at all. Raises InputError when that fails."""
    path = Path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"cannot write a picture as {path.name}; use .svg, .pdf or .png")
    content = io.BytesIO()
    with matplotlib.rc_context(PRINT):
        figure.savefig(content, format=kind)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(content.getvalue())
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose another place") from None
    return path
