"""Kernels of rows for given types, bound to a device, to the arrays that they always have, and to a number of rows."""

from __future__ import annotations

import dataclasses
import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.compiler.constants import Named, named
from workbench.compiler.facts import Access, accesses, flops
from workbench.compiler.kinds import INT, Array, Kind, names_of
from workbench.compiler.reading import RowFunction
from workbench.compiler.tree import Function
from workbench.jit.compiled import REORDERED
from workbench.kernel_language.row_kernels import RowFunctions, RowKernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, Dots


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
        return Array(found[name], 1, strided=name in blocks)

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


@dataclasses.dataclass(frozen=True, eq=False)
class Request:
    """A kernel, and the arguments to which it is bound.

    rows: their number. dtype: of vectors, and of all arrays whose dtype is not known otherwise. fixed: arrays and
    numbers that every call has, by name; an integer is int64, a fraction has the precision of sums. work:
    numbers that grow with the work up to each row, such as row pointers, shape (rows + 1,); without them every row has
    `each` entries. constants: by name, at least those without a default. numbered: the parameters that stand for
    several arguments, with their number. summed: else no sums are computed. columns: of the block vectors `blocks`.
    wides: arguments of a call that have the precision of sums. hints: what an override may be given in addition.
    """

    kernel: RowKernel
    rows: int
    dtype: np.dtype
    fixed: Mapping[str, Any]
    work: np.ndarray | None = None
    constants: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    numbered: Mapping[str, int] = dataclasses.field(default_factory=dict)
    summed: bool = True
    columns: int = 1
    blocks: tuple[str, ...] = ()
    wides: tuple[str, ...] = ()
    hints: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    each: int = 1

    @property
    def entries(self) -> int:
        """The work of all rows."""
        return self.rows * self.each if self.work is None else int(self.work[-1])

    def form(self, fixed: Mapping[str, Any], wide: np.dtype) -> RowForm:
        """The kernel for the types of the fixed arguments as a device has them. wide: its dtype of sums."""
        dtypes = dict.fromkeys(self.kernel.arguments(self.numbered), self.dtype)
        dtypes |= {name: value.dtype for name, value in fixed.items()} | dict.fromkeys(self.wides, wide)
        numbers = frozenset(name for name, value in fixed.items() if isinstance(value, np.generic))
        types, numbered = (tuple(sorted(part.items())) for part in (dtypes, self.numbered))
        return row_form(
            self.kernel, self.dtype, wide, types, numbers, named(self.constants), numbered,
            blocks=frozenset(self.blocks), columns=self.columns, summed=self.summed,
        )  # fmt: skip

    def in_blocks(self, columns: int, fixed: Mapping[str, Any], *, summed: bool = False) -> Request:
        """The kernel from x to y, both block vectors. fixed: the arguments as a device has them. summed: with the dot
        products of corresponding columns."""
        return dataclasses.replace(self, fixed=fixed, summed=summed, columns=columns, blocks=("x", "y"))

    def numbers(self, wide: np.dtype) -> dict[str, Any]:
        """The fixed arguments; numbers of Python with the type that they have in the kernel."""
        real = np.finfo(wide).dtype.type
        kinds: dict[type, Callable[[Any], Any]] = {bool: np.bool_, int: np.int64, float: real}
        kinds[complex] = np.result_type(wide, np.complex64).type
        return {name: kinds.get(type(value), lambda same: same)(value) for name, value in self.fixed.items()}


class Bound(ABC):
    """A bound kernel; called with the arguments that are not fixed, in the order of the text.

    A call returns the sums as the device has them, None without sums. Neither a vector that is written nor
    its memory may be another argument. column_sums: of block vectors, as `OperatorTraits` has them.
    """

    column_sums: DeviceVector | None = None

    def __init__(self, request: Request, form: RowForm, fixed: Mapping[str, Any]) -> None:
        self.request, self.form = request, form
        self.fixed = {name: fixed[name] for name in form.arguments if name in fixed}
        """The arguments that are not passed by a call, as the device has them."""
        self.free = [name for name in form.arguments if name not in request.fixed]
        """The names of the arguments of a call."""
        self.fixed_bytes = sum(
            int(fixed[name].nbytes) for name, made in form.arguments.items() if made.array and name in fixed
        )
        """Bytes of the arrays that calls do not pass."""

    @abstractmethod
    def __call__(self, *free: Any) -> Dots: ...

    @property
    def traffic(self) -> int:
        """Bytes: fixed arrays as they are, other arrays once if they are read and once if they are written."""
        total, request = self.fixed_bytes, self.request
        for name in self.free:
            argument = self.form.arguments[name]
            words = request.rows * (request.columns if argument.block else 1)
            total += (argument.read + argument.written) * words * argument.dtype.itemsize
        return total

    @property
    def flops(self) -> int:
        """Real operations; a loop over a row's entries has the mean number of them."""
        request = self.request
        return round(self.form.flops(request.entries / max(1, request.rows)) * request.rows)


Override = Callable[[Any, Request], Bound | None]
"""Another kernel with the same result, made for a device: a `Bound`, or None where the plain text is as good."""

OVERRIDES: dict[tuple[str, str], Override] = {}
"""Overrides by names of kernels and kinds of devices, cpu or accelerator; registered by the file of the override."""


def override(kernel: RowKernel, kind: str) -> Callable[[Override], Override]:
    """Decorator: register an override."""

    def register(made: Override) -> Override:
        OVERRIDES[kernel.name, kind] = made
        return made

    return register
