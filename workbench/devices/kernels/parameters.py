"""What the parameters of kernels of accelerators are for vectors of any dtype, as annotations.

    def scale(x: Vector, factor: Number, y: Vector, count: int, *, steps: int) -> None: ...

A parameter is an array of one dimension, a number, or a tuple of them; `int` is a count. Parameters without annotation
get one where the kernel is made, and keyword-only ones are constants.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import FunctionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from workbench.compiler.kinds import INT, Array, Kind, real_of


class _Of(NamedTuple):
    """An array or a number of a dtype, or of the dtype of vectors or of sums. real: of the real type of it."""

    dtype: str
    array: bool = True
    real: bool = False

    def kind(self, dtypes: Mapping[str, np.dtype]) -> Kind:
        """For these dtypes of vectors and of sums."""
        dtype = dtypes[self.dtype] if self.dtype in dtypes else np.dtype(self.dtype)
        dtype = real_of(dtype) if self.real else dtype
        return Array(dtype, 1) if self.array else dtype


VECTOR, SUM = "vector", "sum"
Vector = Annotated[np.ndarray, _Of(VECTOR)]
Reals = Annotated[np.ndarray, _Of(VECTOR, real=True)]
"""Of the real type of vectors."""
Sums = Annotated[np.ndarray, _Of(SUM)]
"""In the precision of sums."""
Doubles = Annotated[np.ndarray, _Of("float64")]
Places = Annotated[np.ndarray, _Of("int32")]
"""Integers of 32 bits."""
LongPlaces = Annotated[np.ndarray, _Of("int64")]
Real = Annotated[float, _Of(VECTOR, array=False, real=True)]
"""A number of the real type of vectors."""
RealSum = Annotated[float, _Of(SUM, array=False, real=True)]
"""A number of the real type of sums."""


def kinds_of(
    function: FunctionType, vector: np.dtype, wide: np.dtype, annotations: Mapping[str, Any]
) -> tuple[Kind, ...]:
    """The kinds of a function's positional parameters for dtypes of vectors and of sums; annotations: of those that
    have none, by name."""
    dtypes = {VECTOR: np.dtype(vector), SUM: np.dtype(wide)}
    return tuple(_kind(annotations.get(name, hint), dtypes) for name, hint in _hints(function))


@functools.cache
def _hints(function: FunctionType) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return tuple((name, hints.get(name)) for name in names)


def _kind(hint: Any, dtypes: Mapping[str, np.dtype]) -> Kind:
    if hint is int:
        return INT
    if get_origin(hint) is tuple:
        return tuple(_kind(each, dtypes) for each in get_args(hint))
    return next(each for each in hint.__metadata__ if isinstance(each, _Of)).kind(dtypes)
