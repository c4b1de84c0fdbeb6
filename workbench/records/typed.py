"""Validation of plain data from files against dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Collection, Iterator
from typing import Any, TypeVar

from workbench.errors import InputError

Kind = TypeVar("Kind")
LARGEST = 2**63 - 1
"""Bound for the magnitude of integers, which must fit into arrays."""
SCALARS: dict[Any, set[type]] = {
    str: {str},
    bool: {bool},
    int: {int},
    float: {float, int},
    types.NoneType: {types.NoneType},
}
"""Python types of JSON values that are accepted for each field type."""
MAX_NAMED = 12
"""Number of invalid entries that a message names."""


def read(kind: type[Kind], plain: object, what: str) -> Kind:
    """An instance of a dataclass from plain data; unknown entries are ignored.

    Fields are str, int, float, bool, Any, other dataclasses, lists and dictionaries of those, and unions with None; a
    field with a default may be missing. An int is accepted as a float; a bool as neither. what: name of the part of the
    file for messages. Raises InputError that names missing entries and entries of a wrong type.
    """
    wrong = list(_invalid(kind, plain, ""))
    if wrong == [""]:
        raise InputError(f"its {what} cannot be read")
    if wrong:
        named = ", ".join(wrong[:MAX_NAMED]) + (" and more" if len(wrong) > MAX_NAMED else "")
        raise InputError(f"in its {what}, {named} cannot be read")
    return _instance(kind, plain)


@functools.cache
def _fields(kind: type) -> dict[str, tuple[Any, bool]]:
    """The type of each field and whether it may be missing."""
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is not missing or field.default_factory is not missing)
        for field in dataclasses.fields(kind)
    }


def _invalid(kind: Any, value: object, name: str) -> Iterator[str]:
    """Qualified names of missing entries and of entries with a wrong type; `name` itself for a scalar."""
    if not dataclasses.is_dataclass(kind):
        if not _all_valid(kind, (value,)):
            yield name
    elif not isinstance(value, dict):
        yield name
    else:
        for entry, (entry_kind, optional) in _fields(typing.cast(type, kind)).items():
            qualified = f"{name}.{entry}" if name else entry
            if entry in value:
                yield from _invalid(entry_kind, value[entry], qualified)
            elif not optional:
                yield qualified


def _all_valid(kind: Any, values: Collection[Any]) -> bool:
    """True if all values are of a type. Collections are checked at once, because lists may be long."""
    inner, origin = typing.get_args(kind), typing.get_origin(kind)
    if kind is Any:
        return True
    if kind in SCALARS:
        integers = (value for value in values if type(value) is int)
        return set(map(type, values)) <= SCALARS[kind] and all(abs(value) <= LARGEST for value in integers)
    if origin is list:
        return all(isinstance(value, list) and _all_valid(inner[0], value) for value in values)
    if origin is dict:
        return all(isinstance(value, dict) and _all_valid(inner[1], value.values()) for value in values)
    if origin is types.UnionType:
        return all(any(_all_valid(choice, (value,)) for choice in inner) for value in values)
    return all(next(_invalid(kind, value, "?"), None) is None for value in values)


def _instance(kind: Any, value: Any) -> Any:
    """The validated value, with dictionaries converted to dataclasses."""
    inner = typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        cls, fields = typing.cast(type, kind), _fields(typing.cast(type, kind))
        return cls(**{name: _instance(own, value[name]) for name, (own, _) in fields.items() if name in value})
    if typing.get_origin(kind) is types.UnionType:
        return _instance(next(choice for choice in inner if next(_invalid(choice, value, "?"), None) is None), value)
    if typing.get_origin(kind) is list and dataclasses.is_dataclass(inner[0]):
        return [_instance(inner[0], part) for part in value]
    return value
