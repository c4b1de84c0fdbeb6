"""Where the site is made of files of the checkout, and where they stand on it."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "docs"
SOURCE, SITE, CACHE = BUILD / "source", BUILD / "site", BUILD / "cache"
RECORDING = "recording.webm"
"""The film of the start page, whose poster lies next to it."""
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\((?!\w+:)([^)\s]+)\)")
CODE = re.compile(r"(```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
LESSON, SOLUTIONS = "notebooks/lessons", "solutions.md"


def on_site(path: str) -> str | None:
    """Where a file of the checkout stands on the site; None for one that does not."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        return SOLUTIONS if "/solutions/" in path else f"{path.removesuffix('.ipynb')}.md"
    return path if "/" not in path and path.endswith(".md") else None


def relinked(text: str, path: str) -> str:
    """The Markdown of a file of the checkout with links for the site; of one to another file its text stays.

    A link to nothing at all is kept, and fails the build.
    """
    here = posixpath.dirname(on_site(path) or path)

    def moved(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        there = on_site(whole)
        if there is None:
            return words if (ROOT / whole).exists() else found[0]
        return f"[{words}]({posixpath.relpath(there, here or '.')}{anchor})"

    def image(found: re.Match[str]) -> str:
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))
        return f"![{found[1]}]({posixpath.relpath(on_site(whole) or whole, here or '.')})"

    parts = CODE.split(text)
    return "".join(part if part.startswith("`") else IMAGE.sub(image, LINK.sub(moved, part)) for part in parts)


def put(place: str, text: str) -> None:
    """Write a page of the site."""
    path = SOURCE / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
