"""Print the notes of a release, the changes for users since the one before: `release_notes.py [VERSION]`.

They are the version's section of CHANGELOG.md; without a version those of the newest section, which is headed
`Unreleased` until the release. CONTRIBUTING.md says how a release is made.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?\n", re.MULTILINE)


def sections(text: str) -> dict[str, tuple[str | None, str]]:
    """The sections of a changelog, newest first: by version its date, which Unreleased lacks, and its text."""
    _, *parts = HEADING.split(text)
    return {version: (date, body.strip()) for version, date, body in zip(*[iter(parts)] * 3, strict=True)}


def notes(text: str, version: str | None = None) -> str:
    """The notes as Markdown. Raises SystemExit with a sentence where the changelog has no such version."""
    found = sections(text)
    version = version or next(iter(found))
    if version not in found:
        sys.exit(f"CHANGELOG.md has no version {version}; it has {', '.join(found)}")
    date, body = found[version]
    return f"# cg-workbench {version}{f', {date}' if date else ''}\n\n{body}"


if __name__ == "__main__":
    print(notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), *sys.argv[1:2]))
