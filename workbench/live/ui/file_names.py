"""Names and folders of files that a page writes."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from workbench.errors import InputError

LONGEST, KEPT_END = 120, 40
"""Characters of a file's name without its ending, and how many of its last ones always stay."""


def slug(text: str) -> str:
    """Text as a file name for any system; a long one loses its middle, as a run's time and number come last."""
    text = re.sub(r"(\d+)([²³])", lambda found: "x".join([found[1]] * (2 if found[2] == "²" else 3)), text)
    text = re.sub(r"(?:([\d.]+)\s×\s)?10([⁻⁰¹²³⁴-⁹]+)", _scientific, text).replace(" × ", "x")
    text = re.sub(r"(?<=\d)\u202f(?=\d)", "", text)
    name = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")
    return name if len(name) <= LONGEST else f"{name[: LONGEST - KEPT_END - 1]}-{name[-KEPT_END:]}"


def _scientific(found: re.Match[str]) -> str:
    return f"{found[1] or 1}e{unicodedata.normalize('NFKC', found[2]).replace('−', '-')}"


def make_folder(folder: Path) -> None:
    """Make the folder where exports go, if it is not there. Raises InputError when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from None
