"""Figure files for papers: column width, searchable text, provenance and data."""

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
from workbench.files import write
from workbench.machines.describe import describe_machine
from workbench.plots.figures.columns import resized
from workbench.plots.figures.plotted_data import Table

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
    text = io.StringIO()
    if about is not None:
        text.write(f"# {about}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(data)
    # value == value is false for NaN only.
    writer.writerows([value if value == value else "" for value in row] for row in zip(*data.values(), strict=True))
    return write(path, text.getvalue())
