"""Annotations of the parameters of kernels of accelerators, for vectors of any dtype.

    def scale(x: Vector, factor: Real, y: Vector, count: int, *, steps: int) -> None: ...

A parameter is an array of one dimension, a number, or a tuple of them; `int` is a count. Parameters without annotation
get one where the kernel is made, or their kind, and keyword-only ones are constants.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from workbench.compiler.kinds import INT, Array, Kind, real_of, types_of


class _Of(NamedTuple):
    """An array or a number of a dtype, or of the dtype of vectors or of sums. real: of the real type of it."""

    dtype: str
    array: bool = True
    real: bool = False

    def kind(self, dtypes: Mapping[str, np.dtype]) -> Kind:
        """The kind for these dtypes of vectors and of sums."""
        dtype = dtypes[self.dtype] if self.dtype in dtypes else np.dtype(self.dtype)
        dtype = real_of(dtype) if self.real else dtype
        return Array(dtype, 1) if self.array else dtype


VECTOR, SUM = "vector", "sum"
Vector = Annotated[np.ndarray, _Of(VECTOR)]
Reals = Annotated[np.ndarray, _Of(VECTOR, real=True)]
"""Arrays of the real type of vectors."""
Sums = Annotated[np.ndarray, _Of(SUM)]
"""Arrays in the precision of sums."""
RealSums = Annotated[np.ndarray, _Of(SUM, real=True)]
"""Arrays of the real type of sums."""
Doubles = Annotated[np.ndarray, _Of("float64")]
Bytes = Annotated[np.ndarray, _Of("uint8")]
Codes = Annotated[np.ndarray, _Of("uint16")]
Places = Annotated[np.ndarray, _Of("int32")]
"""Integers of 32 bits."""
LongPlaces = Annotated[np.ndarray, _Of("int64")]
Real = Annotated[float, _Of(VECTOR, array=False, real=True)]
"""A number of the real type of vectors."""
RealSum = Annotated[float, _Of(SUM, array=False, real=True)]
"""A number of the real type of sums."""


def places_of(dtype: np.dtype | type) -> object:
    """Integers of that dtype, of 32 or 64 bits."""
    return Places if np.dtype(dtype).itemsize == 4 else LongPlaces


class Known(NamedTuple):
    """An array of these lengths, or an integer of this value, as constants of a kernel."""

    kind: Array | np.dtype
    numbers: tuple[int, ...]


def kinds_of(
    function: FunctionType, vector: np.dtype, wide: np.dtype, annotations: Mapping[str, object]
) -> tuple[Kind, ...]:
    """The kinds of a function's positional parameters for dtypes of vectors and of sums; annotations: of those that
    have none, by name."""
    dtypes = {VECTOR: np.dtype(vector), SUM: np.dtype(wide)}
    return tuple(_kind(annotations.get(name, hint), dtypes) for name, hint in _hints(function))


def known_in(
    function: FunctionType, annotations: Mapping[str, object], kinds: tuple[Kind, ...]
) -> tuple[tuple[int, int], ...]:
    """The integers that are `Known`: their places among the scalars of arguments of these kinds, and their values."""
    found, place = list[tuple[int, int]](), 0
    hints = _leaves(annotations.get(name, hint) for name, hint in _hints(function))
    for hint, kind in zip(hints, flat(kinds), strict=True):
        if isinstance(hint, Known):
            # The address of an array is before its lengths.
            found += enumerate(hint.numbers, place + isinstance(kind, Array))
        place += len(types_of(kind))
    return tuple(found)


def flat(of: tuple[Any, ...]) -> Iterator[Any]:
    """The entries of nested tuples in order."""
    for each in of:
        if isinstance(each, tuple):
            yield from flat(each)
        else:
            yield each


@functools.cache
def _hints(function: FunctionType) -> tuple[tuple[str, object], ...]:
    hints = get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return tuple((name, hints.get(name)) for name in names)


def _kind(hint: object, dtypes: Mapping[str, np.dtype]) -> Kind:
    if hint is int:
        return INT
    if isinstance(hint, Known):
        return hint.kind
    if isinstance(hint, np.dtype | Array):
        return hint
    if isinstance(hint, tuple) or get_origin(hint) is tuple:
        return tuple(_kind(each, dtypes) for each in _parts(hint))
    return _of(hint).kind(dtypes)


def _leaves(hints: Iterable[object]) -> Iterator[object]:
    for hint in hints:
        is_leaf = isinstance(hint, Known) or not (isinstance(hint, tuple) or get_origin(hint) is tuple)
        yield from [hint] if is_leaf else _leaves(_parts(hint))


def _parts(hint: object) -> tuple[object, ...]:
    return hint if isinstance(hint, tuple) else get_args(hint)


def _of(hint: object) -> _Of:
    return next(each for each in getattr(hint, "__metadata__", ()) if isinstance(each, _Of))
