"""The glossary and the pages of documentation, as the page shows them: read from docs/, which is their one source."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import mistune

from workbench.errors import InputError
from workbench.files.data_files import docs_folder
from workbench.words.names import typeset_words

PAGES = {
    "live": "Live views",
    "family": "The CG family",
    "devices": "Devices and preconditioners",
    "runs": "Runs, sharing and files",
    "traces": "Traces and timelines",
    "lines": "Methods as lines",
    "glossary": "Glossary",
}
"""The pages of documentation that the help panel lists."""
ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>(?:[^|\\]|\\.)+) \|", re.MULTILINE)
LONGEST = 40
PAGE = "## Words on the page"
OTHER_SENSES = {"side", "link", "part", "block", "step", "pass", "program", "problem", "host", "spec", "...", "level"}
"""Terms of the code that are everyday words on the page."""


@functools.cache
def terms() -> dict[str, str]:
    """The meaning of each term of docs/glossary.md, in lower case, with its mathematics printed. Symbols and words to
    avoid are left out."""
    text, _, _ = _read("glossary").partition("## Words to avoid")
    _, _, text = text.partition("## Problems and preconditioners")
    # The sentence for the page comes before that for the code.
    of_code, _, of_page = text.partition(PAGE)
    text = of_page + of_code
    found: dict[str, str] = {}
    for row in ROW.finditer(text):
        meaning = typeset_words(row["meaning"].replace("`", "").strip())
        for term in row["term"].replace("`", "").split(", "):
            if term not in OTHER_SENSES | {"term"} and not term.startswith("-") and 2 < len(term) <= LONGEST:
                found.setdefault(term.lower(), meaning)
    return found


@functools.cache
def page(name: str) -> str:
    """A page of documentation as HTML. Raises InputError for a name that is not in `PAGES`."""
    if name not in PAGES:
        raise InputError(f"there is no page {name!r}; known: {', '.join(PAGES)}")
    render = mistune.create_markdown(plugins=["table"])
    return str(render(_read(name)))


def _read(name: str) -> str:
    return Path(docs_folder() / f"{name}.md").read_text(encoding="utf-8")
