"""The style sheets and the ES modules of the views, joined into the one text that a widget carries."""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import traitlets

from workbench.errors import InputError
from workbench.registry.extensions import extensions

STATIC = Path(__file__).parents[1] / "static"
IMPORT = re.compile(r'^import \{[^}]*\} from "(?P<path>\.[^"]+\.js)";\n', re.MULTILINE)
CSS_COMMENT = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
"""Comments that fill a line. Every widget carries the text, so it is sent without them."""
FOLDERS = ("plots", "field", "builders", "solve", "compare", "inspect", "stepping", "runs", "app")
SHEETS = ("ui/tokens", "ui/style", "ui/controls", *(f"{folder}/style" for folder in FOLDERS))
"""Our own style sheets in the order of the cascade: views override the small parts that they contain."""
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
    text = "".join(source(f"{sheet}.css") for sheet in sheets())
    return CSS_COMMENT.sub("", text)


def sheets() -> tuple[str, ...]:
    """All style sheets in the order of the cascade, those of extensions last."""
    added = (
        path.relative_to(root).as_posix().removesuffix(".css")
        for root in roots()[1:]
        for path in sorted(root.rglob("*.css"))
    )
    return (*SHEETS, *added)


@functools.cache
def roots() -> tuple[Path, ...]:
    """Folders whose modules and style sheets are one tree: a module imports one of any other by its path in that tree.

    Ours, then those of extensions. One that lacks its folder, or has a folder in it whose name is taken, is left out,
    and is `workbench.registry.extensions.broken`.
    """
    owner_of = dict.fromkeys(_folders(STATIC), "the workbench")
    found = [STATIC]
    for extension in extensions().values():
        if not extension.static:
            continue
        try:
            root = extension.folder / extension.static
            if not root.is_dir():
                raise extension.failure(f"{root} is no folder")
            names = _folders(root)
            for name in names:
                if name in owner_of:
                    raise extension.failure(f"{owner_of[name]} has a folder {name} too; give its own another name")
        except InputError:
            continue
        owner_of |= dict.fromkeys(names, f"the extension {extension.name}")
        found.append(root)
    return tuple(found)


def source(name: str) -> str:
    """The text of a file by its path in the tree. Raises FileNotFoundError where no root has it."""
    for root in _ours_first():
        if (root / name).is_file():
            return (root / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"no folder of modules has {name}")


def imports(name: str) -> list[str]:
    """The modules that a module imports, as paths relative to the folder `static`."""
    folder, text = posixpath.dirname(name), source(name)
    return [posixpath.normpath(posixpath.join(folder, found["path"])) for found in IMPORT.finditer(text)]


def _folders(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_dir())


def _ours_first() -> Iterator[Path]:
    """The roots; extensions are asked only by who looks for a file that is none of ours."""
    yield STATIC
    yield from itertools.islice(roots(), 1, None)


def _parts(name: str, done: set[str], *, inner: bool = False) -> list[str]:
    if name in done:
        return []
    done.add(name)
    parts = [part for wanted in imports(name) for part in _parts(wanted, done, inner=True)]
    own = COMMENT.sub("", IMPORT.sub("", source(name)))
    return [*parts, re.sub(r"^export ", "", own, flags=re.MULTILINE) if inner else own]
