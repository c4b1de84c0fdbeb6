"""Kinds of the arguments of kernels: what machine code is compiled for, and tests at each launch."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.compiler.kinds import DTYPES, INT, Array, KernelError, Kind

NUMBERS = bool, int, float, complex, np.generic


@dataclasses.dataclass(frozen=True)
class ArrayOf:
    """A contiguous array, row by row, of aligned numbers in this machine's order of bytes."""

    dtype: np.dtype
    ndim: int
    writeable: bool


ArgumentKind = ArrayOf | np.dtype | tuple["ArgumentKind", ...]
_known: dict[object, ArgumentKind] = {}


def kinds_of(arguments: tuple[object, ...]) -> tuple[ArgumentKind, ...]:
    """The kinds of arguments. Raises KernelError for what kernels do not take."""
    return tuple(map(_kind_of, arguments))


def in_registers(kind: ArgumentKind) -> Kind:
    """The kind of the compiler for an argument of this kind."""
    match kind:
        case ArrayOf(dtype, ndim, writeable):
            return Array(dtype, ndim, writeable)
        case tuple():
            return tuple(map(in_registers, kind))
    return INT if kind.kind in "iu" else kind


def leaves(
    kinds: tuple[ArgumentKind, ...], path: tuple[int, ...] = (), start: int = 0
) -> list[tuple[tuple[int, ...], ArrayOf | np.dtype]]:
    """The kinds of arrays and numbers, with the index of each, and of those in tuples of each step. start: the index of
    the first."""
    found: list[tuple[tuple[int, ...], ArrayOf | np.dtype]] = []
    for k, kind in enumerate(kinds, start):
        found += leaves(kind, (*path, k)) if isinstance(kind, tuple) else [((*path, k), kind)]
    return found


def _kind_of(argument: object) -> ArgumentKind:
    if isinstance(argument, tuple):
        return kinds_of(argument)
    if isinstance(argument, np.ndarray):
        # A kind is made once, since a launch of a new kernel asks for many.
        key = argument.dtype, argument.ndim, argument.flags.num
    elif isinstance(argument, NUMBERS):
        key = type(argument)
        if isinstance(argument, int | np.integer) and not -(2**63) <= argument < 2**63:
            raise KernelError(f"kernels take integers from -2^63 to 2^63 - 1, not {argument}")
    else:
        raise KernelError(f"kernels take arrays, numbers and tuples of them, not a {type(argument).__name__}")
    if key not in _known:
        _known[key] = _array(argument) if isinstance(argument, np.ndarray) else _number(argument)
    return _known[key]


def _array(array: np.ndarray) -> ArrayOf:
    _check(array.dtype)
    if not array.flags.c_contiguous or not array.flags.aligned or not array.ndim:
        raise KernelError("kernels take arrays without gaps, row by row; copy this one by np.ascontiguousarray")
    return ArrayOf(array.dtype, array.ndim, array.flags.writeable)


def _number(number: Any) -> np.dtype:
    dtype = number.dtype if isinstance(number, np.generic) else np.dtype({int: "i8"}.get(type(number), type(number)))
    _check(dtype)
    # A narrower one would cut off the number of a later launch.
    return INT if dtype.kind in "iu" else dtype


def _check(dtype: np.dtype) -> None:
    if dtype not in DTYPES or not dtype.isnative:
        raise KernelError(f"numbers of the dtype {dtype} are not supported in kernels")
