"""Provenance stored in figure files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from PIL import Image, UnidentifiedImageError

from workbench.errors import InputError
from workbench.files import opened

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
