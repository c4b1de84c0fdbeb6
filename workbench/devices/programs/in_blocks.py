"""Operators in their form for N x s block vectors, or for vectors, applied to the columns of block vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.dot_lines import PRODUCT
from workbench.devices.operator_protocols import OperatorTraits
from workbench.lines.schedule import Inlined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector


MOST_TOGETHER = 8
"""Columns that are copied in one pass: as many double-precision numbers as a cache line holds."""


class ColumnDevice(Protocol):
    """A device that copies columns of block vectors."""

    def zeros(self, size: int, dtype: np.dtype) -> DeviceVector:
        """A new vector of zeros, shape (size,)."""
        ...

    def take_columns(self, block: DeviceVector, first: int, targets: Sequence[DeviceVector]) -> None:
        """targets[k] = column first + k of a block vector."""
        ...

    def put_columns(self, sources: Sequence[DeviceVector], block: DeviceVector, first: int) -> None:
        """Column first + k of a block vector = sources[k]."""
        ...

    def prepare_columns(self, block: DeviceVector, vectors: Sequence[DeviceVector]) -> None:
        """Compile both copies for that number of vectors."""
        ...


class ColumnByColumn(OperatorTraits):
    """out = f(x) column by column. Reads the operator's own data once per column.

    Work space: two vectors for each of up to 8 columns, which are copied together.
    """

    def __init__(
        self, device: ColumnDevice, operator: DeviceOperator, size: int, columns: int, dtype: np.dtype
    ) -> None:
        self._device, self._operator, self._columns = device, operator, columns
        together = min(columns, MOST_TOGETHER)
        self._x, self._out = ([device.zeros(size, dtype) for _ in range(together)] for _ in range(2))

    def prepare(self, x: DeviceVector, out: DeviceVector) -> None:
        """Compile the copies of columns, ahead of the first application."""
        for count in {len(self._x), self._columns % len(self._x)} - {0}:
            self._device.prepare_columns(x, self._x[:count])

    def apply(self, x: DeviceVector, out: DeviceVector) -> None:
        for first in range(0, self._columns, len(self._x)):
            taken, made = (vectors[: self._columns - first] for vectors in (self._x, self._out))
            self._device.take_columns(x, first, taken)
            for column, result in zip(taken, made, strict=True):
                self._operator.apply(column, result)
            self._device.put_columns(made, out, first)

    @property
    def traffic(self) -> int:
        return self._columns * (self._operator.traffic + 4 * self._x[0].nbytes)

    @property
    def flops(self) -> int:
        return self._columns * self._operator.flops


def in_blocks(device: Any, operator: DeviceOperator | Inlined, size: int, columns: int, dtype: np.dtype) -> Any:
    """The operator for block vectors: its own form, one pass where it is element-wise, else column by column."""
    operator = getattr(operator, "element_wise", operator)
    if isinstance(operator, Inlined):
        return ElementWiseInBlocks(device, operator, size, columns, dtype)
    own = getattr(operator, "block", None)
    form = own(columns) if own else None
    return ColumnByColumn(device, operator, size, columns, dtype) if form is None else form


def has_blocks(operator: object) -> bool:
    """True for an operator with a form for block vectors other than column by column."""
    return isinstance(getattr(operator, "element_wise", operator), Inlined) or hasattr(operator, "block")


class ElementWiseInBlocks(OperatorTraits):
    """out = formula of x, row by row."""

    def __init__(self, device: Any, operator: Inlined, size: int, columns: int, dtype: np.dtype) -> None:
        self._lines = device.lines(PRODUCT, operators={"M": operator})
        self._shape, self._itemsize, self._factors = (size, columns), np.dtype(dtype).itemsize, len(operator.factors)

    def prepare(self, x: DeviceVector, out: DeviceVector) -> None:
        """Compile, and record where the device does, for these block vectors; ahead of the first application."""
        _, compiled = self._lines.compile(x=x, y=out)
        for run in compiled.runs:
            getattr(run, "record", lambda: None)()

    def apply(self, x: DeviceVector, out: DeviceVector) -> None:
        self._lines(x=x, y=out)

    @property
    def traffic(self) -> int:
        size, columns = self._shape
        return (2 * columns + self._factors) * size * self._itemsize

    @property
    def flops(self) -> int:
        size, columns = self._shape
        return self._factors * size * columns
