"""The style sheets and the ES modules of the views, joined into the one text that a widget carries."""

from __future__ import annotations

import functools
import posixpath
import re
from pathlib import Path

import traitlets

STATIC = Path(__file__).parents[1] / "static"
EXTENSIONS = Path(__file__).parents[2] / "extensions"
ROOTS = (STATIC, *sorted(EXTENSIONS.glob("*/page/static")))
"""Folders whose modules and style sheets are one tree: a module imports one of any other by its path in that tree."""
IMPORT = re.compile(r'^import \{[^}]*\} from "(?P<path>\.[^"]+\.js)";\n', re.MULTILINE)
CSS_COMMENT = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
"""Comments that fill a line. Every widget carries the text, so it is sent without them."""
FOLDERS = ("plots", "field", "builders", "solve", "compare", "inspect", "stepping", "runs", "app")
SHEETS = (
    *("ui/tokens", "ui/style", "ui/controls"),
    *(f"{folder}/style" for folder in FOLDERS),
    *(path.relative_to(root).as_posix()[: -len(".css")] for root in ROOTS[1:] for path in sorted(root.rglob("*.css"))),
)
"""Style sheets in the order of the cascade: views override the small parts that they contain."""
INDENT = re.compile(r"^ +", re.MULTILINE)
"""Indentation, a ninth of the text. No script holds a text of several lines."""


@functools.cache
def module(name: str) -> str:
    """A module, such as "plots/plot.js", behind all modules that it imports, each once.

    Comments and indentation are left out.

    The text imports nothing, so the browser fetches no file. No two modules of one text may define the same name at top
    level.
    """
    return INDENT.sub("", joined(name))


def script(name: str) -> traitlets.Unicode[str, str | bytes]:
    """The trait that holds the module of a `LiveWidget`."""
    return traitlets.Unicode(module(name)).tag(sync=True)


def joined(name: str) -> str:
    """A module with all modules that it imports, each once, with its indentation."""
    return COMMENT.sub("", "\n".join(_parts(name, set())))


@functools.cache
def style_sheet() -> str:
    """The style sheet that all views share."""
    text = "".join(source(f"{sheet}.css") for sheet in SHEETS)
    return CSS_COMMENT.sub("", text)


def source(name: str) -> str:
    """The text of a file by its path in the tree. Raises FileNotFoundError where no root has it."""
    for root in ROOTS:
        if (root / name).is_file():
            return (root / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"no folder of modules has {name}")


def imports(name: str) -> list[str]:
    """The modules that a module imports, as paths relative to the folder `static`."""
    folder, text = posixpath.dirname(name), source(name)
    return [posixpath.normpath(posixpath.join(folder, found["path"])) for found in IMPORT.finditer(text)]


def _parts(name: str, done: set[str], *, inner: bool = False) -> list[str]:
    if name in done:
        return []
    done.add(name)
    parts = [part for wanted in imports(name) for part in _parts(wanted, done, inner=True)]
    own = COMMENT.sub("", IMPORT.sub("", source(name)))
    return [*parts, re.sub(r"^export ", "", own, flags=re.MULTILINE) if inner else own]
