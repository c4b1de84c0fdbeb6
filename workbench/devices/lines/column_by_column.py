"""Operators for vectors, applied to block vectors one column at a time."""

from __future__ import annotations

from typing import Any, ClassVar


class ColumnByColumn:
    """out = f(x) column by column. Work space: two vectors. Reads the operator's own data once per column."""

    offers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, device: Any, operator: Any, size: int, columns: int, dtype: Any) -> None:
        self._device, self._operator, self._columns = device, operator, columns
        self._x, self._out = device.zeros(size, dtype), device.zeros(size, dtype)

    def prepare(self, x: Any, out: Any) -> None:
        """Compile the copies of columns, ahead of the first application; a column of `out` becomes zero."""
        self._device.take_column(x, 0, self._x)
        self._device.put_column(self._out, out, 0)

    def apply(self, x: Any, out: Any) -> None:
        for k in range(self._columns):
            self._device.take_column(x, k, self._x)
            self._operator.apply(self._x, self._out)
            self._device.put_column(self._out, out, k)

    @property
    def traffic(self) -> int:
        return self._columns * (self._operator.traffic + 4 * self._x.nbytes)

    @property
    def flops(self) -> int:
        return self._columns * self._operator.flops
