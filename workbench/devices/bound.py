"""Kernels of rows, bound to a device, to the arrays that they always have, and to a number of rows."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.compiler.constants import named
from workbench.devices.row_form import RowForm, row_form
from workbench.kernel_language.row_kernels import RowKernel

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector, Dots


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
