"""Dependencies of the machine code of a kernel: functions that it calls and constants that it reads, in any module."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator

import numpy as np

from workbench.compiler.source import source_of

NUMBERS = bool, int, float, complex, np.generic
CONSTANTS = (*NUMBERS, str, type, np.dtype, np.ufunc, types.NoneType, types.BuiltinFunctionType)
"""Types whose values are written as the same text in every process."""
VERSIONED = {math, np}
"""Modules whose functions change with a version only, which is part of every key."""


def of(function: types.FunctionType) -> tuple[str, ...]:
    """The texts of it and of all that it calls, directly or not, as they are compiled, and the values of the constants
    that these functions read. Sorted.

    Raises KernelError where a function has no text, as one that is typed in, and TypeError where one reads a global
    of a type that is not among `CONSTANTS`.
    """
    found: set[str] = set()
    waiting, seen = [function], set[object]()
    while waiting:
        reader = waiting.pop()
        if reader in seen:
            continue
        seen.add(reader)
        source = source_of(reader)
        found.add(f"{source.text}{source.licences}")
        for name, value in _read(reader):
            if isinstance(value, types.FunctionType):
                # Names may be exchanged without any text that changes.
                found.add(f"{name} = {value.__module__}.{value.__qualname__}")
                waiting.append(value)
            else:
                found.add(f"{name} = {_written(name, value)}")
    return tuple(sorted(found))


def _read(reader: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Names and values outside a function that it reads: globals, attributes of modules, variables of functions around
    it, defaults of its arguments."""
    names = set(_names(reader.__code__))
    outside = {name: reader.__globals__[name] for name in names if name in reader.__globals__}
    cells = zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=True)
    outside |= {name: cell.cell_contents for name, cell in cells}
    outside |= {f"{reader.__name__}.default_{k}": value for k, value in enumerate(reader.__defaults__ or ())}
    for name, value in outside.items():
        if not isinstance(value, types.ModuleType):
            yield f"{reader.__module__}.{name}", value
        elif value not in VERSIONED:
            yield from ((f"{value.__name__}.{each}", vars(value)[each]) for each in names if each in vars(value))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def _written(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_written(name, each) for each in value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, CONSTANTS):
        return repr(value)
    raise TypeError(f"a kernel reads {name}, a {type(value).__name__}, whose value is no part of its key; pass it on")
