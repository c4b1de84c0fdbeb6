"""Count the words that docs/glossary.md says to avoid, per package: `.venv/bin/python scripts/glossary_words.py`.

With words as arguments it lists where they occur. Identifiers are split at underscores and capitals; an entry with an
underscore is an identifier itself. The package `live` is left out. Always exits with status 0: a report, not a check.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "glossary.md"
HEADING = "## Words to avoid"
SKIPPED = "live"
"""The package that is not counted."""
CELL = re.compile(r"(?<!\\)\|")
"""The bar between two cells of a table; a bar inside a cell has a backslash in front."""
PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
"""Where an identifier is split into words."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A row of the table: forms of a word, the replacement, regular expressions and path patterns of exceptions."""

    forms: tuple[str, ...]
    replacement: str
    lines: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def counts(self, path: str, line: str) -> bool:
        """Whether a form on this line of this file is to be avoided."""
        if any(fnmatch.fnmatch(f"/{path}", pattern) for pattern in self.paths):
            return False
        return not any(re.search(pattern, line) for pattern in self.lines)

    def found(self, line: str) -> int:
        """How often the forms occur in a line as whole words."""
        return len(self._words.findall(PARTS.sub(" ", line))) + len(self._identifiers.findall(line))

    @functools.cached_property
    def _words(self) -> re.Pattern[str]:
        return _whole(form for form in self.forms if "_" not in form)

    @functools.cached_property
    def _identifiers(self) -> re.Pattern[str]:
        return _whole(form for form in self.forms if "_" in form)


def _whole(forms: Iterable[str]) -> re.Pattern[str]:
    """Any of the forms as a whole word; without a form, a pattern that matches nothing."""
    alternatives = "|".join(map(re.escape, forms))
    return re.compile(rf"\b(?:{alternatives})\b" if alternatives else r"(?!)", re.IGNORECASE)


def entries(page: str) -> list[Entry]:
    """The table of words in the Markdown text of the glossary."""
    rows = [line for line in page.partition(HEADING)[2].splitlines() if line.startswith("|")]
    return [_entry(row) for row in rows[2:]]


def _entry(row: str) -> Entry:
    avoid, replacement, exceptions = (cell.strip().replace("\\|", "|") for cell in CELL.split(row)[1:4])
    patterns = re.findall(r"`([^`]+)`", exceptions)
    return Entry(
        forms=tuple(form.strip(" `") for form in avoid.split(",")),
        replacement=replacement,
        lines=tuple(pattern for pattern in patterns if not _is_path(pattern)),
        paths=tuple(pattern for pattern in patterns if _is_path(pattern)),
    )


def _is_path(pattern: str) -> bool:
    return "/" in pattern or pattern.endswith(".py")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file: of a notebook those of its cells, of the glossary those above the table."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    yield from enumerate(text.partition(HEADING)[0].splitlines(), 1)


def room(path: Path, root: Path) -> str:
    """The top-level package of a module, `workbench` for one outside any, else the folder of a page."""
    parts = path.relative_to(root).parts
    if parts[0] == "workbench":
        return parts[1] if len(parts) > 2 else "workbench"
    return parts[0] if len(parts) > 1 else "pages"


def files(root: Path) -> list[Path]:
    """All modules outside `live`, the kernel texts, the documents, and the notebooks."""
    found = [
        *root.glob("workbench/**/*.py"),
        *root.glob("workbench/**/*.cl"),
        *root.glob("*.md"),
        *root.glob("docs/*.md"),
        *root.glob("notebooks/**/*.ipynb"),
    ]
    return sorted(path for path in found if room(path, root) != SKIPPED and ".ipynb_checkpoints" not in path.parts)


Place = tuple[Entry, Path, int, str, int]
"""A line where a word occurs: entry, file, number of the line, its text, and how often."""


def occurrences(root: Path, words: Iterable[Entry]) -> Iterator[Place]:
    """Every line of the tree that holds a word to avoid."""
    words = list(words)
    for path in files(root):
        relative = str(path.relative_to(root))
        for number, line in lines_of(path):
            for entry in words:
                if (times := entry.found(line)) and entry.counts(relative, line):
                    yield entry, path, number, line.strip(), times


def table(root: Path, words: Iterable[Entry]) -> str:
    """Counts by word and package, the most frequent word first."""
    counts: Counter[tuple[str, str]] = Counter()
    replacements = {}
    for entry, path, _number, _line, times in occurrences(root, words):
        counts[entry.forms[0], room(path, root)] += times
        replacements[entry.forms[0]] = entry.replacement
    rooms = sorted({place for _word, place in counts})
    totals = Counter({word: sum(counts[word, place] for place in rooms) for word in replacements})
    rows = [["word", "write", *rooms, "sum"]]
    for word, total in totals.most_common():
        rows.append([word, replacements[word], *(str(counts[word, place] or "") for place in rooms), str(total)])
    ends = [str(sum(counts[word, place] for word in totals)) for place in rooms]
    return _aligned([*rows, ["sum", "", *ends, str(totals.total())]])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need, the first two to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def main(chosen: Sequence[str]) -> None:
    """Print the table, or the places of the chosen words."""
    words = entries(PAGE.read_text(encoding="utf-8"))
    if not chosen:
        print(table(ROOT, words))
        return
    for entry, path, number, line, _times in occurrences(
        ROOT, (entry for entry in words if {*chosen} & {*entry.forms})
    ):
        print(f"{path.relative_to(ROOT)}:{number}: {line}  [{entry.replacement}]")


if __name__ == "__main__":
    main(sys.argv[1:])
