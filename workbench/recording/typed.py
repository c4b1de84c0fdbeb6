"""Plain data of a file as typed values: what must be there is said by dataclasses, and checked once, by one reader."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Collection, Iterator
from typing import Any, TypeVar

from workbench.errors import InputError

Kind = TypeVar("Kind")
LARGEST = 2**63 - 1
"""Of whole numbers, on both sides of zero: more does not fit into any array."""
SCALARS: dict[Any, set[type]] = {
    str: {str},
    bool: {bool},
    int: {int},
    float: {float, int},
    types.NoneType: {types.NoneType},
}
"""What JSON's values may be for each kind."""
MOST_TOLD = 12
"""Wrong entries that a sentence names."""


def read_json(content: bytes | str) -> Any:
    """JSON as plain data. Raises InputError for anything else, also for what is nested too deeply."""
    try:
        return json.loads(content)
    # A number of thousands of digits is a ValueError, and so are wrong bytes.
    except (ValueError, RecursionError):
        raise InputError("it holds no JSON that can be read") from None


def read(kind: type[Kind], plain: Any, what: str) -> Kind:
    """Plain data as an instance of a dataclass; entries that it does not have are passed over.

    Fields are str, int, float, bool, Any, other dataclasses, lists and dictionaries of those, and unions with None; a
    field with a default may be missing. A whole number is a float too, and True is neither. what: the part of the file
    in sentences. Raises InputError that names the entries that are missing or of another kind.
    """
    wrong = list(_wrong(kind, plain, ""))
    if wrong == [""]:
        raise InputError(f"its {what} cannot be read")
    if wrong:
        named = ", ".join(wrong[:MOST_TOLD]) + (" and more" if len(wrong) > MOST_TOLD else "")
        raise InputError(f"in its {what}, {named} cannot be read")
    return _made(kind, plain)


@functools.cache
def _fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """The type of every field, and whether it may be missing."""
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is not missing or field.default_factory is not missing)
        for field in dataclasses.fields(kind)
    }


def _wrong(kind: Any, value: Any, name: str) -> Iterator[str]:
    """The names of the entries that are not of their kind; a value of its own has the name that is given."""
    if not dataclasses.is_dataclass(kind):
        if not _fit(kind, (value,)):
            yield name
    elif not isinstance(value, dict):
        yield name
    else:
        for entry, (own, optional) in _fields(typing.cast(type, kind)).items():
            whole = f"{name}.{entry}" if name else entry
            if entry in value:
                yield from _wrong(own, value[entry], whole)
            elif not optional:
                yield whole


def _fit(kind: Any, values: Collection[Any]) -> bool:
    """Whether all the values are of that kind. Lists may be long, so their parts are looked at together."""
    inner, origin = typing.get_args(kind), typing.get_origin(kind)
    if kind is Any:
        return True
    if kind in SCALARS:
        whole = (value for value in values if type(value) is int)
        return set(map(type, values)) <= SCALARS[kind] and all(abs(value) <= LARGEST for value in whole)
    if origin is list:
        return all(isinstance(value, list) and _fit(inner[0], value) for value in values)
    if origin is dict:
        return all(isinstance(value, dict) and _fit(inner[1], value.values()) for value in values)
    if origin is types.UnionType:
        return all(any(_fit(choice, (value,)) for choice in inner) for value in values)
    return all(next(_wrong(kind, value, "?"), None) is None for value in values)


def _made(kind: Any, value: Any) -> Any:
    """The value, known to be of its kind, with dataclasses made of dictionaries."""
    inner = typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        made = typing.cast(type, kind)
        return made(**{name: _made(own, value[name]) for name, (own, _) in _fields(made).items() if name in value})
    if typing.get_origin(kind) is list and dataclasses.is_dataclass(inner[0]):
        return [_made(inner[0], part) for part in value]
    return value
