"""Operators in their form for N x s block vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.devices.dot_lines import PRODUCT
from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.programs.column_by_column import ColumnByColumn
from workbench.lines.schedule import Inlined

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector


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
