"""A configuration's plain data as a short text for links, without what is standard, and back; saved ones from files."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.data_files import path_of
from workbench.errors import InputError
from workbench.files import read_bytes
from workbench.registry import lookup, unknown_name
from workbench.run.plain import NUMBERS, WHOLE_NUMBERS
from workbench.run.stopping import Stopping

STANDARD = {"solver": "cg", "preconditioner": "jacobi", "deflation": "none", "coarse": "cholesky", "variant": "def1"}
"""The blocks of a run that says nothing else. Links leave them out, so another choice here needs another version."""
SETTINGS: dict[str, Any] = {"device": "cpu", "memory_limit": None, "rhs": "problem", "x0": "problem", "seed": 0}
STOPPING = dataclasses.asdict(Stopping())

PREFIX = "cgw1."
LINK = re.compile(r"\s*cgw(\d+)\.")
LONGEST = 1 << 16
"""Characters of a link."""
MOST_BYTES = 1 << 18
"""Of what a link unpacks to and of a file: a thousand bubbles take a tenth of it."""
ENDING = ".cg.json"
AGAIN = "copy the whole text again"


def is_shared(text: str) -> bool:
    """Whether a text is a link, or names a saved configuration."""
    return bool(LINK.match(text)) or text.strip().endswith(ENDING)


def read_shared(text: str) -> dict[str, Any]:
    """The plain data of a link or of a saved file, all of it. Raises InputError for whatever is neither."""
    return _checked(expand(_unpacked(text)) if LINK.match(text) else _from_file(path_of(text.strip())))


def pack(plain: Mapping[str, Any]) -> str:
    """A link of the plain data of `Configuration.to_dict`: a version, then compressed JSON in URL-safe base64."""
    content = json.dumps(shorten(plain), separators=(",", ":")).encode()
    if len(content) > MOST_BYTES:
        raise InputError(
            f"a link holds at most {MOST_BYTES} bytes, this problem takes {len(content)}; save it as a file"
        )
    text = PREFIX + base64.urlsafe_b64encode(zlib.compress(content, 9)).decode().rstrip("=")
    if len(text) > LONGEST:
        raise InputError(f"a link has at most {LONGEST} characters, this one takes {len(text)}; save it as a file")
    return text


def shorten(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Only what differs from what is standard: a block is its name, or its name and the parameters that differ."""
    short: dict[str, Any] = {}
    for kind in ("problem", *STANDARD):
        name, values = plain[kind]["name"], plain[kind]["parameters"]
        defaults = {declared.name: declared.default for declared in lookup(kind, name).parameters()}
        differing = {key: value for key, value in values.items() if value != defaults[key]}
        if differing or name != STANDARD.get(kind):
            short[kind] = [name, differing] if differing else name
    short |= {name: plain[name] for name, standard in SETTINGS.items() if plain[name] != standard}
    stopping = {name: value for name, value in plain["stopping"].items() if value != STOPPING[name]}
    return short | ({"stopping": stopping} if stopping else {})


def expand(short: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `shorten`. Raises InputError for a name that no configuration has."""
    known = ("problem", *STANDARD, *SETTINGS, "stopping")
    for name in short:
        if name not in known:
            raise InputError(unknown_name("entry", name, known))
    plain: dict[str, Any] = {}
    for kind in ("problem", *STANDARD):
        given = short.get(kind, STANDARD.get(kind))
        if isinstance(given, list) and len(given) != 2:
            raise InputError(f"a block is its name, or its name and parameters, got {len(given)} entries; {AGAIN}")
        name, values = given if isinstance(given, list) else (given, {})
        plain[kind] = {"kind": kind, "name": name, "parameters": values}
    given = short.get("stopping", {})
    stopping = {**STOPPING, **given} if isinstance(given, dict) else given
    return {**plain, **{name: short.get(name, standard) for name, standard in SETTINGS.items()}, "stopping": stopping}


def _unpacked(text: str) -> dict[str, Any]:
    """The JSON in a link. Line breaks that mail programs put in do no harm."""
    text = "".join(text.split())
    found = LINK.match(text)
    if found and found.group(1) != PREFIX[3:-1]:
        raise InputError(
            f"the link is of version {found.group(1)[:9]}, this workbench reads version 1; use a newer one"
        )
    if len(text) > LONGEST:
        raise InputError(
            f"the link has {len(text)} characters, at most {LONGEST} are allowed; save the problem as a file"
        )
    body = text[len(PREFIX) :]
    unpacking = zlib.decompressobj()
    try:
        packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        content = unpacking.decompress(packed, MOST_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise InputError(f"the link is damaged; {AGAIN}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"the link unpacks to more than {MOST_BYTES} bytes, which no configuration takes")
    if not unpacking.eof or unpacking.unused_data:
        raise InputError(f"the link is cut short, or has more behind it; {AGAIN}")
    return _parsed(content, "the link")


def _from_file(path: Path) -> dict[str, Any]:
    content = read_bytes(path, MOST_BYTES, "saved configuration")
    plain = _parsed(content, str(path))
    if plain.get("format") != PREFIX[:-1] or not isinstance(plain.get("configuration"), dict):
        raise InputError(f"{path} is no saved configuration of version 1; choose a file that Save problem has written")
    return plain["configuration"]


def _parsed(content: bytes, what: str) -> dict[str, Any]:
    try:
        plain = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{what} holds no configuration; {AGAIN}") from None
    if not isinstance(plain, dict):
        raise InputError(f"{what} holds no configuration; {AGAIN}")
    return plain


def _checked(plain: dict[str, Any]) -> dict[str, Any]:
    """The same, if every entry is there and of its kind; values are checked where they are used."""
    for kind in ("problem", *STANDARD):
        block = plain.get(kind)
        if not (isinstance(block, dict) and isinstance(block.get("name"), str)):
            raise InputError(f"the configuration does not say its {kind}; {AGAIN}")
        if not isinstance(block.get("parameters"), dict):
            raise InputError(f"the configuration does not say the parameters of its {kind}; {AGAIN}")
        # A block of another kind must not slip in, nor one that is made in code.
        lookup(kind, block["name"])
        block["kind"] = kind
    stopping = plain.get("stopping")
    if not isinstance(stopping, dict) or set(stopping) != set(STOPPING) or not set(SETTINGS) <= set(plain):
        raise InputError(f"the configuration does not say all of when it stops and where it runs; {AGAIN}")
    for name, standard in {**SETTINGS, **STOPPING}.items():
        value = (stopping if name in STOPPING else plain)[name]
        if not ((value is None and standard is None) or _kind(name)(value)):
            raise InputError(f"the configuration's {name} cannot be {str(value)[:40]!r}; {AGAIN}")
    return plain


def _kind(name: str) -> Callable[[Any], bool]:
    """What a setting may be; True and False are whole numbers to Python, but not to us."""
    if name in WHOLE_NUMBERS:
        return lambda value: type(value) is int
    if name in NUMBERS:
        return lambda value: isinstance(value, float) or (type(value) is int and abs(value) < 2**53)
    return lambda value: isinstance(value, str)
