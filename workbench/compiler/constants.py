"""Constants of kernels and helpers: keyword-only parameters, whose values are known while the text is read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.compiler.kinds import DTYPES, KernelError, Row

Constant = bool | int | float | complex | np.dtype | Row | tuple["Constant", ...]
Named = tuple[tuple[str, Constant], ...]
"""Constants with their names, sorted."""


class _Exact(tuple[tuple[str, Constant], ...]):
    """Constants of which 1, 1.0 and True differ, and 0.0 and -0.0: what is made for constants is kept by them."""

    exact: tuple[object, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Exact) and self.exact == other.exact

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.exact)


def named(constants: Mapping[str, object]) -> Named:
    """Constants by name, as plain numbers of Python and dtypes. Raises KernelError for anything else."""
    found = _Exact((name, _plain(name, constants[name])) for name in sorted(constants))
    found.exact = tuple((name, _exact(value)) for name, value in found)
    return found


def _exact(value: Constant) -> object:
    """A value that is equal where constants are the same."""
    match value:
        case tuple():
            return tuple(map(_exact, value))
        case float() | complex():
            return type(value), repr(value)
        case bool() | int():
            return type(value), value
    return value


def _plain(name: str, value: object) -> Constant:
    match value:
        # First, since np.float64 is a float, whose text is another one.
        case np.bool_() | np.integer() | np.floating() | np.complexfloating():
            return value.item()
        case bool() | int() | float() | complex() | Row():
            return value
        case tuple():
            return tuple(_plain(name, each) for each in value)
        case type() if issubclass(value, np.number):
            value = np.dtype(value)
    if isinstance(value, np.dtype) and value in DTYPES:
        return value
    raise KernelError(
        f"the constant {name} is a {type(value).__name__}; kernels take numbers, truths, dtypes of numbers and tuples "
        "of them"
    )
