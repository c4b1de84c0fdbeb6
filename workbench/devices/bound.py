"""Kernels of the kernel language, bound to a device, to the arrays that they always have, and to a number of rows."""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.kernel_language import Kernel, Typed, typed
from workbench.kernel_language.count import flops


@dataclasses.dataclass(frozen=True, eq=False)
class Request:
    """A kernel, and what it is bound to.

    rows: their number. dtype: of vectors, and of all arrays whose dtype is not known otherwise. fixed: arrays and
    numbers that every call has, by name; an integer is int64, a float has the precision of sums. work:
    numbers that grow with the work up to each row, such as row pointers, shape (rows + 1,); without them every row has
    `each` entries. constants, numbered, summed: as in `kernel_language.typed`. columns: of the block vectors `blocks`.
    wides: arguments of a call that have the precision of sums. hints: what an override may be given in addition.
    """

    kernel: Kernel
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

    def typed(self, fixed: Mapping[str, Any], wide: np.dtype) -> Typed:
        """The typed kernel for the fixed arguments as a device has them. wide: its dtype of sums."""
        dtypes = dict.fromkeys(self.kernel.arguments(self.numbered), self.dtype)
        dtypes |= {name: value.dtype for name, value in fixed.items()} | dict.fromkeys(self.wides, wide)
        parts = dtypes, self.constants, self.numbered, dict.fromkeys(self.blocks, self.columns)
        named = [tuple(sorted(part.items())) for part in parts]
        return _typed(self.kernel, self.dtype, wide, self.summed, frozenset(fixed), *named)

    def in_blocks(self, columns: int, fixed: Mapping[str, Any], *, summed: bool = False) -> Request:
        """The same from x to y, both block vectors. fixed: the arguments as a device has them. summed: with the dot
        products of corresponding columns."""
        return dataclasses.replace(self, fixed=fixed, summed=summed, columns=columns, blocks=("x", "y"))

    def numbers(self, wide: np.dtype) -> dict[str, Any]:
        """The fixed arguments; numbers of Python with the type that they have in the kernel."""
        real = np.finfo(wide).dtype.type
        kinds: dict[type, Callable[[Any], Any]] = {int: np.int64, float: real}
        return {name: kinds.get(type(value), lambda same: same)(value) for name, value in self.fixed.items()}


Named = tuple[tuple[str, Any], ...]


@functools.lru_cache(512)
def _typed(
    kernel: Kernel,
    vector: np.dtype,
    wide: np.dtype,
    summed: bool,
    fixed: frozenset[str],
    dtypes: Named,
    constants: Named,
    numbered: Named,
    blocks: Named,
) -> Typed:
    """The typed kernel, the arguments in `fixed` first, so that a call adds its own to them.

    It takes milliseconds, and a setup has a dozen kernels, most of which earlier ones had too.
    """
    some = {"constants": dict(constants), "numbered": dict(numbered), "blocks": dict(blocks)}
    of = typed(kernel, dict(dtypes), vector, wide, **some, summed=summed)
    return dataclasses.replace(
        of, arguments=dict(sorted(of.arguments.items(), key=lambda named: named[0] not in fixed))
    )


class Bound(ABC):
    """A bound kernel; called with the arguments that are not fixed, in the order of the text.

    A call returns the sums as the device has them, None where there are none. Neither a vector that is written nor
    its memory may be another argument. column_sums: of block vectors, as `OperatorTraits` has them.
    """

    column_sums: Any = None

    def __init__(self, request: Request, of: Typed, fixed: Mapping[str, Any]) -> None:
        self.request, self.typed = request, of
        self.fixed = {name: fixed[name] for name in of.arguments if name in fixed}
        """The arguments that are not passed by a call, as the device has them."""
        self.free = [name for name in of.arguments if name not in request.fixed]
        """The names of the arguments of a call."""
        self.fixed_bytes = sum(
            int(fixed[name].nbytes) for name, made in of.arguments.items() if made.array and name in fixed
        )
        """Of the arrays that are not passed by a call."""

    @abstractmethod
    def __call__(self, *free: Any) -> Any: ...

    @property
    def traffic(self) -> int:
        """Bytes: fixed arrays as they are, other arrays once if they are read and once if they are written."""
        total, request = self.fixed_bytes, self.request
        for name in self.free:
            argument = self.typed.arguments[name]
            if argument.array:
                words = request.rows * (request.columns if argument.type.row else 1)
                total += (argument.read + argument.written) * words * argument.type.dtype.itemsize
        return total

    @property
    def flops(self) -> int:
        """Real operations; a loop over a row's entries has the mean number of them."""
        request = self.request
        return round(flops(self.typed, lambda _: request.entries / max(1, request.rows)) * request.rows)


Override = Callable[[Any, Request], Bound | None]
"""Another kernel with the same result, made for a device: a `Bound`, or None where the plain text is as good."""

OVERRIDES: dict[tuple[str, str], Override] = {}
"""By the name of the kernel and the kind of the device, cpu or accelerator; registered by the file of the override."""


def override(kernel: Kernel, kind: str) -> Callable[[Override], Override]:
    """Decorator: register an override."""

    def register(made: Override) -> Override:
        OVERRIDES[kernel.name, kind] = made
        return made

    return register
