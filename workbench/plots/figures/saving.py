"""Figure files for papers: column width, searchable text, provenance, and the data that a figure shows as a table."""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.etree import ElementTree

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.container import BarContainer, Container
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox
from PIL import Image, UnidentifiedImageError

from workbench.errors import InputError
from workbench.files import opened, write
from workbench.files.codec import table
from workbench.machines.describe import describe_machine
from workbench.plots.figures.edited import resized

Table = Mapping[str, Sequence[Any]]
"""Columns by name, all of one length."""
MAX_CELLS = 1 << 14
"""Images with more cells are not listed; they can be reproduced from the provenance."""
COLUMNS = ("panel", "series", "x", "y", "value")
Kind = TypeVar("Kind", bound=Artist)


def plotted_data(figure: Figure) -> Table:
    """One row per visible data point: of curves, markers, ticks, bars, bands and images.

    panel: number of the axes, from 1. series: name in the legend, or empty. x, y: in the units of the axes. value: of
    an image cell, or the length of a bar from x (horizontal) or y (vertical); otherwise NaN. Ticks are short line
    segments as of `vlines`, listed by their midpoints. A band is listed by its corners. Images of more than 16,384
    cells are omitted. Cost: proportional to the number of points.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> scene = scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])})
        >>> figures.plotted_data(figures.draw(scene))["y"]
        [1.0, 1e-08, 1.0, 1e-08]
    """
    rows: list[tuple[Any, ...]] = []
    # A colour bar repeats the data of its image.
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for number, axes in enumerate(panels, 1):
        rows += [(number, *row) for part in PARTS for row in part(axes)]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def _curves(axes: Axes) -> list[tuple[Any, ...]]:
    """Points of lines in data coordinates; reference lines such as those of `axhline` are omitted."""
    lines = [line for line in _visible(axes.lines, Line2D) if line.get_transform() == axes.transData]
    return [
        (_name(line), float(x), float(y), np.nan)
        for line in lines
        for x, y in zip(*(np.asarray(values, np.float64) for values in line.get_data(orig=False)), strict=True)
        if np.isfinite(y)
    ]


def _marks(axes: Axes) -> list[tuple[Any, ...]]:
    """Markers of scatter plots."""
    return [
        (_name(marks), float(x), float(y), np.nan)
        for marks in _visible(axes.collections, PathCollection)
        for x, y in np.ma.getdata(marks.get_offsets())
        if np.isfinite(y)
    ]


def _ticks(axes: Axes) -> list[tuple[Any, ...]]:
    """Midpoints of line segments."""
    found = _visible(axes.collections, LineCollection)
    middles = [(_name(lines), np.mean(segment, axis=0)) for lines in found for segment in lines.get_segments()]
    return [(name, float(x), float(y), np.nan) for name, (x, y) in middles]


def _bars(axes: Axes) -> list[tuple[Any, ...]]:
    rows = []
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            vertical = bars.orientation == "vertical"
            rows += [(_name(bars), *_bar(bar.get_bbox(), vertical)) for bar in _visible(bars.patches, Rectangle)]
    return rows


def _areas(axes: Axes) -> list[tuple[Any, ...]]:
    """Boxes of `broken_barh` as horizontal bars, and bands of `fill_between`."""
    rows = []
    for areas in _visible(axes.collections, PolyCollection):
        for corners in (np.asarray(path.vertices) for path in areas.get_paths()):
            # The first vertex counts twice: a box has 5, a band over only two points 7.
            if len(corners) == 5:
                rows.append((_name(areas), *_bar(Bbox([corners.min(axis=0), corners.max(axis=0)]), False)))
            else:
                rows += [(_name(areas), float(x), float(y), np.nan) for x, y in corners]
    return rows


def _bar(box: Bbox, vertical: bool) -> tuple[float, float, float]:
    """The centre of the bar's base, and its length."""
    if vertical:
        return float(box.x0 + box.x1) / 2, float(box.y0), float(box.height)
    return float(box.x0), float(box.y0 + box.y1) / 2, float(box.width)


def _cells(axes: Axes) -> list[tuple[Any, ...]]:
    """Centres and values of the cells of images."""
    rows = []
    for image in _visible(axes.images, AxesImage):
        values = np.ma.filled(np.ma.asarray(image.get_array(), np.float64), np.nan)
        if values.ndim != 2 or values.size > MAX_CELLS:
            continue
        left, right, bottom, top = image.get_extent()
        if image.origin == "upper":
            bottom, top = top, bottom
        down, across = values.shape
        x = left + (np.arange(across) + 0.5) * (right - left) / across
        y = bottom + (np.arange(down) + 0.5) * (top - bottom) / down
        rows += [(_name(image), float(x[j]), float(y[i]), float(values[i, j])) for i, j in np.ndindex(*values.shape)]
    return rows


PARTS = (_curves, _marks, _ticks, _bars, _areas, _cells)


def _visible(artists: Iterable[Any], kind: type[Kind]) -> list[Kind]:
    return [artist for artist in artists if isinstance(artist, kind) and artist.get_visible()]


def _name(artist: Artist | Container) -> str:
    """The artist's name in the legend; default labels of Matplotlib begin with an underscore."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else label


DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"
KEYWORDS = re.compile(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", re.DOTALL)
"""A PDF string, in which parentheses and backslashes are escaped by a backslash."""

DAMAGED = (
    ElementTree.ParseError,
    UnidentifiedImageError,
    Image.DecompressionBombError,
    OSError,
    ValueError,
    SyntaxError,
    RecursionError,
)
"""Exceptions of the SVG, PDF and PNG parsers for damaged files."""


def read_provenance(path: str | Path) -> dict[str, Any]:
    """The provenance that `save` stored in a figure. Raises InputError for files without it or that are no figure.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> figure = figures.draw(scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])}))
        >>> figures.read_provenance(figures.save(figure, "gap.svg", {"solver": "cg"}))["solver"]
        'cg'
    """
    path = Path(path)
    try:
        reader = {".svg": _of_svg, ".pdf": _of_pdf, ".png": _of_png}[path.suffix.lower()]
    except KeyError:
        raise InputError(f"{path.name} is no figure of this workbench; use a file in .svg, .pdf or .png") from None
    with opened(path, "figure") as stream:
        try:
            about = reader(stream)
        except DAMAGED:
            raise InputError(f"{path.name} cannot be read as a figure; it is damaged or has another format") from None
    try:
        found = json.loads(about)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path.name} has no provenance; save the figure with provenance")
    return found


def _of_svg(stream: IO[bytes]) -> str:
    found = ElementTree.parse(stream).getroot().find(f".//{DESCRIPTION}")
    return "" if found is None else found.text or ""


def _of_pdf(stream: IO[bytes]) -> str:
    found = KEYWORDS.search(stream.read())
    return re.sub(rb"\\(.)", rb"\1", found[1], flags=re.DOTALL).decode("ascii", "replace") if found else ""


def _of_png(stream: IO[bytes]) -> str:
    with Image.open(stream) as image:
        return str(image.info.get("Description", ""))


PRINT: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42, "savefig.dpi": 300}
"""Text stays searchable and editable; PDF embeds the font as TrueType."""
METADATA_KEYS = {"svg": "Description", "pdf": "Keywords", "png": "Description"}
"""Matplotlib's metadata key for a long text by format: SVG metadata, PDF Info, PNG tEXt."""
_rc_lock = threading.Lock()
"""Guards changes of Matplotlib's rcParams, which all threads share."""


def save(
    figure: Figure,
    path: str | Path,
    provenance: Mapping[str, Any] | None = None,
    data: Table | None = None,
    *,
    columns: int | None = None,
) -> Path:
    """Write a figure atomically as .svg, .pdf or .png, chosen by the suffix of the path.

    provenance: plain data for JSON, such as that of a run; stored in the file together with versions, machine and time,
    and read back by `read_provenance`. data: columns of numbers, as from `plotted_data`, written to a CSV file of the
    same name. columns: resize a copy to 1 or 2 journal columns, 85 or 175 mm wide, with text of 7 to 8 points; by
    default the figure keeps its size.

    Raises InputError for another format and for a folder that cannot be written.

    Examples:
        >>> from workbench.plots import figures, scenes
        >>> figure = figures.draw(scenes.residual_gap_scene({"CG": ([1.0, 1e-8], [1.0, 1e-8])}))
        >>> figures.save(figure, "gap.pdf", {"solver": "cg"}, figures.plotted_data(figure), columns=1).name
        'gap.pdf'
    """
    path = Path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"cannot write a picture as {path.name}; use .svg, .pdf or .png")
    if (provenance is not None or data is not None) and kind not in METADATA_KEYS:
        raise InputError(f"cannot store provenance and data with {path.name}; use .svg, .pdf or .png")
    about = None if provenance is None else json.dumps(stamped(provenance), default=str)
    content = io.BytesIO()
    printed = figure if columns is None else resized(figure, columns)
    with _rc_lock, matplotlib.rc_context(PRINT):
        printed.savefig(content, format=kind, metadata=None if about is None else {METADATA_KEYS[kind]: about})
    if data is not None:
        save_table(data, path.with_suffix(".csv"), about)
    return write(path, content.getvalue())


def stamped(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Provenance with the time of writing, the machine and the versions of packages."""
    return {"written": datetime.now(UTC).isoformat(timespec="seconds"), "writer": describe_machine(), **provenance}


def save_table(data: Table, path: Path, about: str | None = None) -> Path:
    """Write columns of equal length as CSV, after a comment line with the provenance; NaN becomes an empty cell.

    Raises InputError for columns of different lengths and for a folder that cannot be written.
    """
    lengths = {name: len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns of a table must have one length, got {lengths}")
    comment = "" if about is None else f"# {about}\n"
    # value == value is false for NaN only.
    rows = ([value if value == value else "" for value in row] for row in zip(*data.values(), strict=True))
    return write(path, comment + table({}, data, rows))
