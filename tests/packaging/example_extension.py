"""The extension of docs/how_to_extend.md: its files, and a wheel of them."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how_to_extend.md"
NAME = "cg-workbench-damped"
PACKAGE = "cg_workbench_damped"
SAVED = re.compile(rf"^Save this as|Save this as\n`{NAME}/", re.MULTILINE)
FILE = re.compile(rf"Save this as\s+`{NAME}/([\w./-]+)`:\n\n```\w+\n(.*?)```\n", re.DOTALL)


def files() -> dict[str, str]:
    """The texts that the page says to save, and the empty one, by their paths."""
    found = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
    return {f"{PACKAGE}/__init__.py": "", **found}


def save(folder: Path) -> Path:
    """Save the files in a folder; returns that of the distribution."""
    for name, text in files().items():
        path = folder / NAME / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / NAME
