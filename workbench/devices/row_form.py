"""Kernels of rows for given types: the arguments that are used, and their use."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.compiler.constants import Named
from workbench.compiler.facts import Access, accesses, flops
from workbench.compiler.kinds import INT, Array, Kind, names_of
from workbench.compiler.reading import RowFunction
from workbench.compiler.tree import Function
from workbench.jit.compiled import REORDERED
from workbench.kernel_language.row_kernels import RowFunctions, RowKernel


class Argument(NamedTuple):
    """An array, or a number; read, written: whether the kernel does so; block: a block vector."""

    dtype: np.dtype
    array: bool
    read: bool
    written: bool
    block: bool


@dataclasses.dataclass(frozen=True, eq=False)
class RowForm:
    """A kernel of rows for the types of its arguments.

    arguments: those that are used, and all numbers, by name, in the order of the text. vector, wide: the dtypes of
    vectors and of sums. columns: of block vectors. sums: numbers that are summed. parameters: for each of the function
    the name of its argument, or the names of several; kinds: their kinds.
    """

    kernel: RowKernel
    arguments: dict[str, Argument]
    vector: np.dtype
    wide: np.dtype
    columns: int
    functions: RowFunctions
    sums: int
    parameters: tuple[str | tuple[str, ...], ...]
    kinds: tuple[Kind, ...]

    @property
    def blocks(self) -> list[str]:
        """The arguments that are block vectors."""
        return [name for name, argument in self.arguments.items() if argument.block]

    @property
    def dots(self) -> bool:
        """True if the sums are dot products."""
        return self.kernel.dots and self.sums > 0

    @property
    def loop(self) -> dict[str, object]:
        """The functions, as constants of a loop over rows."""
        return self.functions._asdict()

    def filled(self, known: Mapping[str, object]) -> tuple[Any, ...]:
        """Something for each parameter of the function, in its place; () for arguments that are not used."""
        return tuple(
            known.get(name, ()) if isinstance(name, str) else tuple(known.get(part, ()) for part in name)
            for name in self.parameters
        )

    def in_order(self) -> Iterator[tuple[str, Argument]]:
        """The arguments that are used, in the order of the function."""
        for parameter in self.parameters:
            for name in (parameter,) if isinstance(parameter, str) else parameter:
                if name in self.arguments:
                    yield name, self.arguments[name]

    def flops(self, trips: float) -> float:
        """Real operations of a row that has all its neighbours; sums over rows are not counted. trips: of a loop."""
        return self.columns * flops(self._unsummed, lambda _: trips)

    @functools.cached_property
    def _unsummed(self) -> Function:
        row = dataclasses.replace(self.functions.inner, returns=False)
        return RowFunction(row, self.kinds, REORDERED).row


@functools.lru_cache(512)
def row_form(
    kernel: RowKernel,
    vector: np.dtype,
    wide: np.dtype,
    dtypes: tuple[tuple[str, np.dtype], ...],
    numbers: frozenset[str],
    constants: Named,
    numbered: tuple[tuple[str, int], ...],
    blocks: frozenset[str],
    columns: int,
    summed: bool,
) -> RowForm:
    """The form of a kernel for arguments of these dtypes; numbers: those that are no arrays. Raises KernelError."""
    found, several = dict(dtypes), dict(numbered)
    blocks = blocks if columns > 1 else frozenset()
    functions = kernel.rows(dict(constants), vector, wide, returns=summed and kernel.sums > 0)

    def kind_of(name: str) -> Kind:
        if name in numbers:
            return in_register(found[name])
        return Array(found[name], 1, apart=name in blocks)

    parameters = tuple(
        tuple(f"{name}_{k}" for k in range(several[name])) if name in several else name for name in kernel.parameters
    )
    kinds = tuple(kind_of(name) if isinstance(name, str) else tuple(map(kind_of, name)) for name in parameters)
    used = dict.fromkeys(kernel.arguments(several), Access())
    # Rows near the ends may need more than those that have all their neighbours.
    for each in (functions.edge, functions.reach) if functions.halo else (functions.edge,):
        given = (*kinds, INT) if each.edge else kinds
        here = _by_argument(kernel, parameters, kinds, accesses(RowFunction(each, given, REORDERED).row))
        used = {name: Access(*map(operator.or_, used[name], here[name])) for name in used}
    arguments = {
        name: Argument(found[name], name not in numbers, *access, name in blocks)
        for name, access in used.items()
        if access.read or access.written or name in numbers
    }
    sums = (kernel.sums if columns == 1 else 1) if functions.inner.returns else 0
    return RowForm(kernel, arguments, vector, wide, columns, functions, sums, parameters, kinds)


def _by_argument(
    kernel: RowKernel,
    parameters: tuple[str | tuple[str, ...], ...],
    kinds: tuple[Kind, ...],
    accesses_: Mapping[str, Access],
) -> dict[str, Access]:
    """The use of each argument, from that of its scalars."""
    found: dict[str, Access] = {}
    for parameter, name, kind in zip(kernel.parameters, parameters, kinds, strict=True):
        scalars = iter(names_of(parameter, kind))
        names, parts = ((name,), (kind,)) if isinstance(name, str) else (name, kind)
        assert isinstance(parts, tuple)
        for each, part in zip(names, parts, strict=True):
            own = [accesses_[next(scalars)] for _ in names_of("", part)]
            # Of an array what its address leads to.
            own = own[:1] if isinstance(part, Array) else own
            found[each] = Access(any(one.read for one in own), any(one.written for one in own))
    return found


def in_register(dtype: np.dtype) -> np.dtype:
    """The kind of a number in a register."""
    return INT if dtype.kind in "iu" else dtype
