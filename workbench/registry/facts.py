"""Facts about a block for menus and forms: readable name, group, formula, cost and source.

Names, groups and formulas are in `data/blocks.toml`, and in a file of the same form of each extension; cost and source
are taken from the block's docstring ("Cost: ...", "Source: ..."), and from that file where the docstring has none.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import tomllib
from collections.abc import Iterable
from typing import Any

from workbench.errors import InputError
from workbench.files.data_files import data_folder
from workbench.registry.blocks import Block
from workbench.registry.declared_values import KINDS
from workbench.registry.extensions import Extension, at_hand, extensions, ours

PARTS = r"(?:Raises|Sources?|Cost|Memory|Stores)\b"
SHORT = ("Int", "J", "Sci", "Comput", "Numer", "Math", "Appl", "Phys", "Anal", "Proc", "e.g", "i.e", "cf")
"""Words of a source whose full stop ends no sentence."""
ENDS = re.compile("".join(rf"(?<!\b{re.escape(word)})" for word in SHORT) + r"(?<=[a-z\)\d])[.;] (?=[A-Z])|; ")


@dataclasses.dataclass(frozen=True)
class Facts:
    """label: readable name. name: that in runs, and size: of a problem, with parameters in braces. of_zero: the name
    where the first parameter is 0, if that is another. group: heading in a menu. formula: one line. cost: of an
    application, in words, empty for a solver whose lines are counted instead. source: where it was published. about:
    the paragraphs of the docstring that say more than these."""

    label: str
    name: str
    of_zero: str
    size: str
    group: str
    formula: str
    cost: str
    source: str
    about: tuple[str, ...]


# Docstrings are searched, which takes longer than small parts of a setup.
@functools.lru_cache(512)
def facts(cls: type[Block]) -> Facts:
    """The facts of a block. One that no file of facts lists, such as a user's, has its title alone."""
    listed = {"label": cls.title or cls.name, "group": "User-defined"}
    # Those of the core need no declaration of an extension.
    tables = [_table()] if cls.name in _table().get(cls.kind, {}) else _of_extensions(cls.name, cls.kind)
    listed |= next((table[cls.kind][cls.name] for table in tables if cls.name in table.get(cls.kind, {})), {})
    # A name that would be filled with what the block has not.
    listed = {key: text for key, text in listed.items() if all(hasattr(cls, at) for at in re.findall(r"{(\w+)}", text))}
    about = inspect.cleandoc(cls.__doc__ or "")
    cost = listed.get("cost") or _part(about, "Cost")
    source = listed.get("source") or _part(about, "Sources?")
    return Facts(
        label=listed["label"],
        name=listed.get("name", listed["label"]),
        of_zero=listed.get("of_zero", ""),
        size=listed.get("size", ""),
        group=listed["group"],
        formula=listed.get("formula", ""),
        cost=cost,
        source=source,
        about=tuple(
            each for each in paragraphs(about) if each.rstrip(".") not in (f"Cost: {cost}", f"Source: {source}")
        ),
    )


def paragraphs(docstring: str) -> list[str]:
    """The paragraphs of a docstring without its line breaks and without what is raised; a table keeps its lines."""
    kept = re.sub(r"\bRaises\s+InputError\b.*?(\.(?=\s|$)|$)", "", docstring, flags=re.DOTALL)
    found = (part.strip() for part in re.split(r"\n\s*\n", kept))
    return [part if part.startswith("|") else " ".join(part.split()) for part in found if part]


def parameter_label(owner: str, name: str) -> str:
    """The readable name of a parameter of a block, or of a setting for owner "run"."""
    tables = [table.get("parameter", {}) for table in (_table(), *_of_extensions(owner))]
    found = (labels.get(key) for key in (f"{owner}.{name}", name) for labels in tables)
    return next(filter(None, found), name.replace("_", " "))


def choice_label(name: str, value: str) -> str:
    """The readable name of one of the values that a parameter can take; the value itself if none is listed."""
    tables = (_table(), *map(_of_extension, at_hand()))
    return next((found for table in tables if (found := table.get("choice", {}).get(name, {}).get(value))), value)


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads((data_folder() / "blocks.toml").read_text(encoding="utf-8"))


@functools.cache
def _of_extension(name: str) -> dict[str, Any]:
    """The facts of the blocks of an extension; nothing where its file is not of that form, which `broken` then says."""
    extension = ours().get(name) or extensions()[name]
    try:
        table = tomllib.loads(extension.text(extension.facts)) if extension.facts else {}
        return table if _is_of_texts(table) else _none(extension, "has what is no table of texts")
    except tomllib.TOMLDecodeError as error:
        return _none(extension, f"is no TOML ({error})")
    except InputError:
        return {}


def _none(extension: Extension, reason: str) -> dict[str, Any]:
    extension.failure(f"{extension.facts} {reason}")
    return {}


def _is_of_texts(table: dict[str, Any]) -> bool:
    """True if all entries are tables of texts, or, of kinds and choices, tables of those."""
    for key, entries in table.items():
        below = [entries] if key == "parameter" else _values(entries)
        if not all(isinstance(text, str) for each in below for text in _values(each)):
            return False
    return True


def _values(table: object) -> Iterable[object]:
    """The values of a table; of anything else the thing itself, which then is no text either."""
    return table.values() if isinstance(table, dict) else (None,)


def _of_extensions(block: str, kind: str = "") -> list[dict[str, Any]]:
    """The facts of the extensions that have a block of that name, of one kind or of whatever kind."""
    tables = {at: named for at, named in _table().items() if at in KINDS and kind in ("", at)}
    is_known = (block == "run" and not kind) or any(block in named for named in tables.values())
    found = [name for name, each in at_hand().items() if _has(each, block, kind)]
    # Those of others are looked for where it is none of ours, since reading their metadata takes a while.
    if not (is_known or found):
        found = [name for name, each in extensions().items() if _has(each, block, kind)]
    return [_of_extension(name) for name in found]


def _has(extension: Extension, block: str, kind: str) -> bool:
    return any(block in named for at, named in extension.blocks.items() if kind in ("", at))


def _part(about: str, word: str) -> str:
    """The first sentence of the part of a docstring that a word and a colon begin; empty if there is none."""
    found = re.search(rf"\b{word}[^:.]{{0,40}}: (.*?)(?= {PARTS}|$)", " ".join(about.split()))
    if not found:
        return ""
    return ENDS.split(found[1])[0].rstrip(". ")
