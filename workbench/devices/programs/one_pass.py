"""Paper lines of one pass as a function of vectors, such as a preconditioner's; what devices share of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.programs.planning import Formula, planned_pass
from workbench.lines import count, schedule

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector


class OnePass:
    """Vector updates and dot products that are planned as one pass, without scalar lines.

    vectors: their names, in the order in which `apply` takes them. operators: element-wise ones. numbers: scalars that
    stay as they are. `apply` returns the dot products in the order of their lines, or None without any. Keeps no
    reference to the vectors.
    """

    def __init__(
        self,
        text: str,
        vectors: Sequence[str],
        operators: Mapping[str, schedule.Inlined] | None = None,
        numbers: Mapping[str, complex] | None = None,
    ) -> None:
        self._numbers = dict(numbers or {})
        factors: dict[str, DeviceVector] = {
            schedule.factor_name(name, factor): vector
            for name, operator in (operators or {}).items()
            for factor, vector in operator.factors.items()
        }
        self._factors = tuple(factors.values())
        formulas = tuple((name, Formula.of(each)) for name, each in (operators or {}).items())
        self._step, self._shapes = planned_pass(text, (*vectors, *factors), tuple(self._numbers), formulas)
        known = [*vectors, *factors]
        self._places = [known.index(name) for name in self._step.arrays]
        """Places of the kernel's arrays among the vectors and factors."""

    def work(self, size: int, dtype: np.dtype) -> tuple[int, int]:
        """Bytes and flops of one application to vectors of shape (size,)."""
        planned, dtype = (self._step, self._shapes, size), np.dtype(dtype)
        return count.bytes_of(*planned, lambda _: dtype.itemsize), count.flops_of(*planned, dtype)

    def _slots(self, first: int) -> dict[str, int]:
        """Places of the numbers and dot products among scalars, from `first` on."""
        names = (*self._numbers, *(line.target for line in self._step.dots))
        return {name: first + k for k, name in enumerate(names)}

    def _arrays(self, vectors: Sequence[DeviceVector]) -> list[DeviceVector]:
        """The kernel's arrays."""
        given = (*vectors, *self._factors)
        return [given[place] for place in self._places]
