"""The forms of what an extension declares; each check raises InputError with the value and the form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from workbench.errors import InputError, quoted

NAME = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)
"""A name in the text of a block, in a command and in an option."""
KINDS = ("problem", "solver", "preconditioner", "deflation", "coarse", "variant")
"""The kinds of blocks."""
ARCHIVE = r"\.(?:whl|zip|tar|tgz|tbz|tbz2|txz|tlz|gz|bz2|xz|lzma)"
INSTALLABLE = re.compile(
    rf"(?!.*{ARCHIVE}(?:\[|$))[A-Za-z0-9](?:[\w.-]{{0,78}}[A-Za-z0-9])?(?:\[[\w,-]{{1,40}}\])?",
    re.ASCII | re.IGNORECASE,
)
"""Arguments that `pip install` may get: a distribution, with extras. By a name that ends as an archive pip means a
file of the present folder."""


def name(field: str, value: object) -> None:
    """A name, as of a block or a command."""
    _matching(field, value, NAME, "a name of letters, digits, - and _")


def kind(field: str, value: object) -> None:
    """A kind of blocks."""
    if value not in KINDS:
        raise InputError(f"{field} must be a kind, one of {', '.join(KINDS)}, got {quoted(value)}")


def line(field: str, value: object) -> None:
    """A text on one line."""
    if not (isinstance(value, str) and value.strip() and value.isprintable()):
        raise InputError(f"{field} must be a text on one line, got {quoted(value)}")


def module(field: str, value: object) -> None:
    """The name of a module."""
    if not (isinstance(value, str) and all(part.isidentifier() for part in value.split("."))):
        raise InputError(f"{field} must be a module, as in package.module, got {quoted(value)}")


def reference(field: str, value: object, *, optional: bool = False) -> None:
    """A module and a name in it; optional: or an empty text."""
    if optional and value == "":
        return
    parts = value.split(":") if isinstance(value, str) else []
    if len(parts) != 2 or not parts[1].isidentifier() or not all(part.isidentifier() for part in parts[0].split(".")):
        raise InputError(f"{field} must be a reference, as in package.module:name, got {quoted(value)}")


def file(field: str, value: object) -> None:
    """A path within the package, or an empty text."""
    path = value if isinstance(value, str) else None
    if path is None or PureWindowsPath(path).anchor or path.startswith("/") or ".." in PurePosixPath(path).parts:
        raise InputError(f"{field} must be a path within the package, as in data/blocks.toml, got {quoted(value)}")


def installable(field: str, value: object) -> None:
    """The name of a distribution, with extras."""
    _matching(field, value, INSTALLABLE, "the name of a distribution")


def is_installable(value: str) -> bool:
    """True if `pip install` takes the text for the name of a distribution."""
    return bool(INSTALLABLE.fullmatch(value))


def normal(distribution: str) -> str:
    """The name of a distribution in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def several(field: str, value: object) -> Sequence[Any]:
    """A tuple; a text, whose letters would be taken for its entries, is none."""
    if not isinstance(value, (tuple, list)):
        raise InputError(f"{field} must be a tuple, got {quoted(value)}")
    return value


def by_name(field: str, value: object, *, keys: Callable[[str, object], None] = name) -> Mapping[str, Any]:
    """A mapping. keys: the check of its keys."""
    if not isinstance(value, Mapping):
        raise InputError(f"{field} must be a mapping by name, got {quoted(value)}")
    for key in value:
        keys(f"a name in {field}", key)
    return value


def distinct(field: str, names: Sequence[str]) -> None:
    """Names of which no two are the same."""
    for place, named in enumerate(names):
        if named in names[:place]:
            raise InputError(f"{field} have the name {quoted(named)} twice; give each its own")


def instance(field: str, value: object, kind: type) -> None:
    """An object of a class."""
    if not isinstance(value, kind):
        raise InputError(f"{field} must be {kind.__name__} objects, got {quoted(value)}")


def _matching(field: str, value: object, form: re.Pattern[str], words: str) -> None:
    if not (isinstance(value, str) and form.fullmatch(value)):
        raise InputError(f"{field} must be {words}, got {quoted(value)}")
