"""Figures as files for papers: at the width of a column, with text as text, and with all that it took to make them."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from workbench.errors import InputError
from workbench.figures.columns import fitted
from workbench.figures.plotted_data import Table
from workbench.files import write
from workbench.machine.describe import describe_machine

PRINT: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42, "savefig.dpi": 300}
"""Text in files stays text, so that it can be searched and edited; PDF carries the font as TrueType."""
PLACES = {"svg": "Description", "pdf": "Keywords", "png": "Description"}
"""Where each format keeps a long text: metadata of an SVG, Info of a PDF, tEXt of a PNG."""
_settings = threading.Lock()
"""Held while Matplotlib's settings, which all threads share, are changed."""


def save(
    figure: Figure,
    path: str | Path,
    provenance: Mapping[str, Any] | None = None,
    data: Table | None = None,
    *,
    columns: int | None = None,
) -> Path:
    """Write a figure in the format that the ending names, .svg, .pdf or .png; whole or not at all.

    provenance: plain data for JSON, such as that of a run; it goes into the file with versions, machine and time, and
    `read_provenance` reads it back. data: columns of numbers, as from `drawn`; they are written beside the figure as
    CSV. columns: 1 or 2 of a journal, 85 or 175 mm wide, with text of 7 to 8 points; by default the figure's own size.
    The figure itself stays as it is. Raises InputError for another format and where the folder cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"cannot write a picture as {path.name}; use .svg, .pdf or .png")
    if (provenance is not None or data is not None) and kind not in PLACES:
        raise InputError(f"cannot keep provenance and data with {path.name}; use .svg, .pdf or .png")
    about = None if provenance is None else json.dumps(stamped(provenance), default=str)
    content = io.BytesIO()
    shown = figure if columns is None else fitted(figure, columns)
    with _settings, matplotlib.rc_context(PRINT):
        shown.savefig(content, format=kind, metadata=None if about is None else {PLACES[kind]: about})
    if data is not None:
        save_table(data, path.with_suffix(".csv"), about)
    return write(path, content.getvalue())


def stamped(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Provenance with the time of writing and the machine that wrote, its versions included."""
    return {"written": datetime.now(UTC).isoformat(timespec="seconds"), "writer": describe_machine(), **provenance}


def save_table(data: Table, path: Path, about: str | None = None) -> Path:
    """Write columns of one length as CSV, a comment line with the provenance first; NaN is an empty cell.

    Raises InputError for columns of several lengths, and where the folder cannot be written.
    """
    lengths = {name: len(column) for name, column in data.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns of a table must have one length, got {lengths}")
    text = io.StringIO()
    if about is not None:
        text.write(f"# {about}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(data)
    # NaN alone differs from itself.
    writer.writerows([value if value == value else "" for value in row] for row in zip(*data.values(), strict=True))
    return write(path, text.getvalue().encode())
