"""Texts of the library as Markdown: sentences, in which signs of Markdown are no signs, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_{}\[\]|$#~])")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows)]


def said(text: str) -> str:
    """A sentence of the library as Markdown; `code` stays."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\1", part).replace("<", "&lt;") for part in parts)


def sentence(text: str) -> str:
    """A text as a sentence."""
    begun = text[:1].upper() + text[1:] if re.match(r"[a-z]+ ", text) else text
    return f"{begun.rstrip('.')}." if text else ""
