"""Sentences of the workbench as the page shows them."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.problems.suitesparse import cache_folder
from workbench.words.names import typeset_words


def shown(sentence: str) -> str:
    """A sentence with its mathematics printed, and with the names of uploaded files alone."""
    return typeset_words(without_folder(sentence))


def without_folder(text: str) -> str:
    """A path or a sentence without the folder of uploads, which means nothing to whoever has uploaded a file."""
    return re.sub(rf"{re.escape(str(uploads()))}[/\\\\][0-9a-f]{{16}}[/\\\\]", "", text)


def uploads() -> Path:
    """The folder where uploaded files are kept, as HASH/NAME."""
    return cache_folder() / "uploads"
