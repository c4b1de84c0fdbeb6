"""Paper lines of one pass as a function of vectors, such as a preconditioner's; what devices share of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.lines import count, schedule
from workbench.lines.parse import parse
from workbench.lines.shapes import infer
from workbench.lines.types import SCALAR, VECTOR, LinesError, tall_names


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
        lines = schedule.inline(parse(text), operators or {})
        factors: dict[str, Any] = {
            schedule.factor_name(name, factor): vector
            for name, operator in (operators or {}).items()
            for factor, vector in operator.factors.items()
        }
        self._factors = tuple(factors.values())
        known = [*vectors, *factors]
        self._shapes = infer(lines, dict.fromkeys(known, VECTOR) | dict.fromkeys(self._numbers, SCALAR))
        steps = schedule.plan(lines, tall_names(self._shapes), known, {})
        if len(steps) != 1 or not isinstance(steps[0], schedule.Pass) or steps[0].scalars:
            raise LinesError(f"these lines take {len(steps)} steps, not one pass over the vectors:\n{text}")
        self._step = steps[0]
        self._places = [known.index(name) for name in self._step.arrays]
        """Of the kernel's arrays among the vectors and factors."""

    def work(self, size: int, dtype: np.dtype) -> tuple[int, int]:
        """Bytes and flops of one application to vectors of shape (size,)."""
        planned, dtype = (self._step, self._shapes, size), np.dtype(dtype)
        return count.bytes_of(*planned, lambda _: dtype.itemsize), count.flops_of(*planned, dtype)

    def _slots(self, first: int) -> dict[str, int]:
        """Places of the numbers and dot products among scalars, from `first` on."""
        names = (*self._numbers, *(line.target for line in self._step.dots))
        return {name: first + k for k, name in enumerate(names)}

    def _arrays(self, vectors: Sequence[Any]) -> list[Any]:
        """The kernel's arrays."""
        given = (*vectors, *self._factors)
        return [given[place] for place in self._places]
