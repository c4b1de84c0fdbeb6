"""Configurations as share links, which leave out what most runs have in common, and as saved files; `files.codec` makes
the text of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.files import read_bytes
from workbench.files.codec import AGAIN, Link, read_object
from workbench.files.data_files import path_of
from workbench.registry import Parameter, lookup, unknown_name
from workbench.settings import BLOCKS, RUN, STOPPING, differing, is_address

LONGEST = 1 << 16
"""Largest length of a link, in characters."""
MOST_BYTES = 1 << 18
"""Largest size of an unpacked link and of a saved file; a thousand bubbles need a tenth of it."""
LINK = Link("cgw", 1, "configuration", LONGEST, MOST_BYTES)
PREFIX = LINK.prefix
FORMAT = PREFIX[:-1]
"""The entry of a saved file that says what it is."""
ENDING = ".cg.json"
LEFT_OUT = {"solver": "cg", "preconditioner": "jacobi", "deflation": "none", "coarse": "cholesky", "variant": "def1"}
"""Blocks that a link leaves out. They were the defaults of the first version, and are the meaning of its links."""


def is_shared(text: str) -> bool:
    """True if a text is a share link or the path of a saved configuration."""
    return bool(LINK.match(text)) or text.strip().endswith(ENDING)


def read_shared(text: str) -> dict[str, Any]:
    """The complete plain data of a share link or saved file. Raises InputError for any other text."""
    return checked(expand(LINK.unpack(text)) if LINK.match(text) else _from_file(path_of(text.strip())))


def without_address(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A copy without the address of a scheduler: a link or file must not connect whoever opens it to machines of its
    author's choice, which could run anything in the workbench."""
    return {**plain, "cluster": None} if is_address(plain.get("cluster")) else dict(plain)


def pack(plain: Mapping[str, Any]) -> str:
    """The share link of the plain data of `Configuration.to_dict`. The address of a scheduler is left out.

    Raises InputError where the JSON or the link is too long.
    """
    return LINK.pack(shorten(without_address(plain)))


def file_text(plain: Mapping[str, Any]) -> str:
    """The text of a file of the plain data of `Configuration.to_dict`, without the address of a scheduler."""
    return json.dumps({"format": FORMAT, "configuration": without_address(plain)}, indent=2) + "\n"


def shorten(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that a link has to name; a block is its name, or its name, the parameters that differ, and the
    extension that brings it, see `Block.to_dict`."""
    short: dict[str, Any] = {}
    for kind in ("problem", *BLOCKS):
        name, values = plain[kind]["name"], plain[kind]["parameters"]
        defaults = {declared.name: declared.default for declared in lookup(kind, name).parameters()}
        changed = {key: value for key, value in values.items() if value != defaults[key]}
        extension = [plain[kind]["extension"]] if "extension" in plain[kind] else []
        if changed or extension or name != LEFT_OUT.get(kind):
            short[kind] = [name, changed, *extension] if changed or extension else name
    short |= differing(plain, RUN)
    stopping = differing(plain["stopping"], STOPPING)
    return short | ({"stopping": stopping} if stopping else {})


def expand(short: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `shorten`. Raises InputError for names that no configuration has."""
    known = ("problem", *BLOCKS, *RUN, "stopping")
    for name in short:
        if name not in known:
            raise InputError(unknown_name("entry", name, known))
    blocks = {kind: _expanded_block(kind, short.get(kind, LEFT_OUT.get(kind))) for kind in ("problem", *BLOCKS)}
    settings = {name: short.get(name, declared.default) for name, declared in RUN.items()}
    criteria = short.get("stopping", {})
    defaults = {name: declared.default for name, declared in STOPPING.items()}
    stopping = {**defaults, **criteria} if isinstance(criteria, dict) else criteria
    return {**blocks, **settings, "stopping": stopping}


def _expanded_block(kind: str, entry: Any) -> dict[str, Any]:
    listed = entry if isinstance(entry, list) else [entry, {}]
    if len(listed) not in (2, 3) or not all(isinstance(extension, str) for extension in listed[2:]):
        raise InputError(
            f"a block is its name, or its name and parameters, and the extension that brings it, got {len(listed)} "
            f"entries; {AGAIN}"
        )
    name, values, *extension = listed
    return {"kind": kind, "name": name, "parameters": values} | ({"extension": extension[0]} if extension else {})


def _from_file(path: Path) -> dict[str, Any]:
    content = read_bytes(path, MOST_BYTES, "saved configuration")
    plain = read_object(content, str(path), LINK.value)
    if plain.get("format") != FORMAT or not isinstance(plain.get("configuration"), dict):
        raise InputError(f"{path} is not a saved problem of version 1; choose a file written by Save problem")
    return plain["configuration"]


def checked(plain: dict[str, Any]) -> dict[str, Any]:
    """The data, if every entry is present and of its JSON type; `Configuration` checks bounds."""
    for kind in ("problem", *BLOCKS):
        block = plain.get(kind)
        if not (isinstance(block, dict) and isinstance(block.get("name"), str)):
            raise InputError(f"the configuration has no {kind}; {AGAIN}")
        if not isinstance(block.get("parameters"), dict):
            raise InputError(f"the configuration has no parameters for its {kind}; {AGAIN}")
        # Blocks of another kind, and blocks that are made in code only, are refused here.
        lookup(kind, block["name"], block.get("extension"))
        block["kind"] = kind
    # Files of earlier versions lack later settings.
    for name, declared in RUN.items():
        if declared.default is None or name == "ranks":
            plain.setdefault(name, declared.default)
    stopping = plain.get("stopping")
    if not isinstance(stopping, dict) or set(stopping) != set(STOPPING) or not set(RUN) <= set(plain):
        raise InputError(f"the configuration lacks stopping criteria or run settings, or has unknown ones; {AGAIN}")
    for values, settings in ((plain, RUN), (stopping, STOPPING)):
        for name, declared in settings.items():
            if not _has_type(values[name], declared):
                raise InputError(f"the configuration's {name} cannot be {str(values[name])[:40]!r}; {AGAIN}")
    if plain["cluster"] is not None and is_address(plain["cluster"].strip()):
        raise InputError("a link or saved configuration cannot name a cluster by its address; choose it when you run")
    return plain


def _has_type(value: object, declared: Parameter) -> bool:
    """True if a JSON value has the declared type. Booleans are not integers here."""
    if value is None:
        return bool(declared.empty)
    if declared.kind is int:
        return type(value) is int
    if declared.kind is float:
        return isinstance(value, float) or (type(value) is int and abs(value) < 2**53)
    return isinstance(value, str)
