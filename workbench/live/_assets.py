"""The style sheet and the ES modules of the views, joined into the one text that a widget carries."""

from __future__ import annotations

import functools
import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<name>[a-z]+\.js)";\n', re.MULTILINE)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
"""Comments with a line of their own; every widget carries its text, so they stay behind."""


@functools.cache
def module(name: str) -> str:
    """A module with all that it imports in front of it, each once, so that no file is fetched from anywhere.

    Comments stay behind: each widget carries the whole text to the page.
    """
    return COMMENT.sub("", "\n".join(_parts(name, set())))


@functools.cache
def style_sheet() -> str:
    """The style sheet that all views share."""
    return (STATIC / "live.css").read_text(encoding="utf-8")


def _parts(name: str, done: set[str], *, inner: bool = False) -> list[str]:
    if name in done:
        return []
    done.add(name)
    text = (STATIC / name).read_text(encoding="utf-8")
    parts = [part for found in IMPORT.finditer(text) for part in _parts(found["name"], done, inner=True)]
    own = COMMENT.sub("", IMPORT.sub("", text))
    return [*parts, re.sub(r"^export ", "", own, flags=re.MULTILINE) if inner else own]
