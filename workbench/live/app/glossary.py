"""The glossary and the pages of documentation, as the page shows them: read from docs/, which is their one source, and
from the packages of extensions."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import mistune

from workbench.errors import InputError
from workbench.files.data_files import docs_folder
from workbench.registry.extensions import Extension, extensions
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
"""The pages of documentation that the help panel lists, before those of extensions."""
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


def pages() -> dict[str, str]:
    """The titles of all pages of documentation by name."""
    return PAGES | {name: title for name, (_, title) in _of_extensions().items()}


@functools.cache
def page(name: str) -> str:
    """A page of documentation as HTML. Raises InputError for a name that is not in `pages`, and for a file of an
    extension that cannot be read."""
    known = pages()
    if name not in known:
        raise InputError(f"there is no page {name!r}; known: {', '.join(known)}")
    render = mistune.create_markdown(plugins=["table"])
    return str(render(_read(name)))


def _of_extensions() -> dict[str, tuple[Extension, str]]:
    """The extension and the title of each of their pages, by name."""
    return {
        f"{extension.name}/{file}": (extension, title)
        for extension in extensions().values()
        for title, file in extension.documents.items()
    }


def _read(name: str) -> str:
    if name not in PAGES:
        extension, _ = _of_extensions()[name]
        path = extension.folder / name.partition("/")[2]
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise extension.failure(f"its document {path.name} cannot be read ({error})") from None
    return Path(docs_folder() / f"{name}.md").read_text(encoding="utf-8")
