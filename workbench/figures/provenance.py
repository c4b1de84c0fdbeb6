"""What a saved figure knows of how it was made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from PIL import Image, UnidentifiedImageError

from workbench.errors import InputError

DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"
KEYWORDS = re.compile(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", re.DOTALL)
"""A string in PDF: parentheses and backslashes have a backslash before them."""


def read_provenance(path: str | Path) -> dict[str, Any]:
    """The provenance that `save` put into a figure. Raises InputError where there is none, or no figure."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no figure at {path}")
    try:
        about = {".svg": _of_svg, ".pdf": _of_pdf, ".png": _of_png}[path.suffix.lower()](path)
    except KeyError:
        raise InputError(f"{path.name} is no figure of this workbench; those end in .svg, .pdf or .png") from None
    except (ElementTree.ParseError, UnidentifiedImageError, OSError):
        raise InputError(f"{path.name} cannot be read as a figure; it is damaged, or of another kind") from None
    try:
        found = json.loads(about)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path.name} says nothing of how it was made; save it with provenance")
    return found


def _of_svg(path: Path) -> str:
    found = ElementTree.parse(path).getroot().find(f".//{DESCRIPTION}")
    return "" if found is None else found.text or ""


def _of_pdf(path: Path) -> str:
    found = KEYWORDS.search(path.read_bytes())
    return re.sub(rb"\\(.)", rb"\1", found[1], flags=re.DOTALL).decode("ascii", "replace") if found else ""


def _of_png(path: Path) -> str:
    with Image.open(path) as image:
        return str(image.info.get("Description", ""))
