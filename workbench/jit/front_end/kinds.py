"""Kinds of values: a NumPy dtype for a number, an Array, or a tuple of kinds; where kinds meet, as in numba."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

WORD, BYTE, BIT = ir.IntType(64), ir.IntType(8), ir.IntType(1)
TRUTH, INTEGER, UNSIGNED, DOUBLE = map(np.dtype, (np.bool_, np.int64, np.uint64, np.float64))


class UnsupportedError(Exception):
    """The text has something that is left to numba."""


class Array(NamedTuple):
    """Elements that follow one another row by row; of no dimension: one element, and where it is."""

    dtype: np.dtype
    ndim: int


class Value(NamedTuple):
    """parts: values of LLVM. A number has one and a complex one two; an array its address and its lengths; a tuple has
    those of all its entries."""

    kind: Any
    parts: tuple[Any, ...]


def kind_of(of: Any) -> Any:
    """The kind of a type of numba."""
    if isinstance(of, types.BaseTuple):
        entries: Any = of
        return tuple(map(kind_of, entries))
    if isinstance(of, types.Array):
        if of.layout != "C":
            raise UnsupportedError("an array with gaps")
        return Array(kind_of(of.dtype), of.ndim)
    if not isinstance(of, types.Number | types.Boolean):
        raise UnsupportedError(f"the type {of}")
    return np.dtype("bool" if of == types.boolean else str(of))


def real_of(dtype: np.dtype) -> np.dtype:
    """The type of the parts of a complex number; that of a real one itself."""
    return np.finfo(dtype).dtype if dtype.kind == "c" else dtype


@functools.cache
def in_register(dtype: np.dtype) -> Any:
    """LLVM's type of a part of a number."""
    dtype = real_of(dtype)
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    known = {"bool": BIT, "float32": ir.FloatType(), "float64": ir.DoubleType()}
    if dtype.name not in known:
        raise UnsupportedError(dtype.name)
    return known[dtype.name]


def in_memory(dtype: np.dtype) -> Any:
    """LLVM's type of a part of an element."""
    return BYTE if dtype == TRUTH else in_register(dtype)


def parts_of(kind: Any) -> list[Any]:
    """LLVM's types of the parts of a value."""
    if isinstance(kind, Array):
        return [in_memory(kind.dtype).as_pointer(), *[WORD] * kind.ndim]
    if isinstance(kind, tuple):
        return [part for each in kind for part in parts_of(each)]
    return [in_register(kind)] * (2 if kind.kind == "c" else 1)


def number(kind: Any) -> np.dtype:
    """The kind, if it is that of a number."""
    if not isinstance(kind, np.dtype):
        raise UnsupportedError("an array or a tuple, where numbers are known")
    return kind


def array(kind: Any) -> Array:
    """The kind, if it is that of an array."""
    if not isinstance(kind, Array):
        raise UnsupportedError("a number or a tuple, where arrays are known")
    return kind


def common(a: Any, b: Any) -> np.dtype:
    """The kind in which numbers of these kinds are added and compared. Integers are computed in 64 bits."""
    if number(a).kind in "biu" and number(b).kind in "biu":
        return UNSIGNED if a.kind == b.kind == "u" else INTEGER
    for one, other in ((a, b), (b, a)):
        if one.kind in "biu" and one.itemsize < 4 and real_of(other).itemsize == 4:
            raise UnsupportedError("a short integer next to single precision")
    return np.result_type(a, b)


def united(a: Any, b: Any) -> Any:
    """The kind of a variable to which both are assigned."""
    if a == b:
        return a
    if (number(a) == TRUTH) != (number(b) == TRUTH):
        raise UnsupportedError("one variable for a truth and a number")
    if a.kind in "iu" and b.kind in "iu" and a.kind != b.kind:
        if UNSIGNED in (a, b):
            raise UnsupportedError("one variable for integers with and without a sign")
        return INTEGER
    return np.result_type(a, b)
