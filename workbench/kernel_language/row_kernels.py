"""Kernels of rows: plain functions of one row, which the cores and accelerators call for each of them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import NamedTuple

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import Row


class RowFunctions(NamedTuple):
    """Constants of loops over rows (see `jit.frames`): the function for rows that have all their neighbours,
    that for any row, and, if `halo`, that for the number of rows at either end that have not."""

    inner: Row
    edge: Row
    reach: Row
    halo: bool


@dataclasses.dataclass(frozen=True, eq=False)
class RowKernel:
    """A function whose first parameter is the row.

    dots: it returns (left, right), of which (left, right), (right, right) and (left, left) are summed. sums: numbers
    that are summed; without dots it returns them. halo: an expression for a distance; `inside` is true in rows
    farther than that from the first and the last.
    """

    function: FunctionType
    dots: bool = False
    sums: int = 0
    halo: str = ""

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    @functools.cached_property
    def parameters(self) -> list[str]:
        """The names after the row, but those of constants."""
        return [name for name, kind in self._all.items() if kind.kind is not kind.KEYWORD_ONLY][1:]

    def arguments(self, numbered: Mapping[str, int]) -> list[str]:
        """The arguments, where some parameters stand for several."""
        parts = (
            [f"{name}_{k}" for k in range(numbered[name])] if name in numbered else [name] for name in self.parameters
        )
        return [name for part in parts for name in part]

    @functools.cached_property
    def constants(self) -> dict[str, object]:
        """The constants that have a default."""
        return {name: kind.default for name, kind in self._all.items() if kind.default is not kind.empty}

    def rows(self, constants: Mapping[str, object], vector: np.dtype, wide: np.dtype, *, returns: bool) -> RowFunctions:
        """The function for loops over rows.

        constants: of the function; vector, wide: the precisions of vectors and of sums; returns: whether it returns
        what is summed.
        """
        of = named(self.constants | dict(constants) | {".wide": wide, ".narrow": vector})
        # By this way round, for type checkers bind what is read from an object.
        row = Row(vars(self)["function"], of, returns=returns)
        edge, reach = dataclasses.replace(row, edge=True), dataclasses.replace(row, expression=self.halo)
        return RowFunctions(row, edge, reach, bool(self.halo))

    @property
    def _all(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters


def kernel(*, dots: bool = False, sums: int = 0, halo: str = "") -> Callable[[FunctionType], RowKernel]:
    """Decorator of kernels of rows, for the arguments see `RowKernel`."""

    def decorate(function: FunctionType) -> RowKernel:
        return RowKernel(function, dots, 3 if dots else sums, halo)

    return decorate
