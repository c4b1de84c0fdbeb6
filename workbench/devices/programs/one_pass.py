"""Paper lines of one pass as a function of vectors, such as a preconditioner's; what devices share of it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.lines import count, schedule
from workbench.lines.parse import parse
from workbench.lines.shapes import infer
from workbench.lines.types import SCALAR, VECTOR, LinesError, Shapes, tall_names

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
        formulas = tuple(
            (name, _Formula(each.formula, tuple(each.factors))) for name, each in (operators or {}).items()
        )
        self._step, self._shapes = _planned(text, (*vectors, *factors), tuple(self._numbers), formulas)
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


class _Formula(NamedTuple):
    """An element-wise operator without its vectors."""

    formula: str
    names: tuple[str, ...]

    @property
    def factors(self) -> dict[str, None]:
        """The names of its vectors."""
        return dict.fromkeys(self.names)


@functools.lru_cache(512)
def _planned(
    text: str, known: tuple[str, ...], numbers: tuple[str, ...], formulas: tuple[tuple[str, _Formula], ...]
) -> tuple[schedule.Pass, Shapes]:
    """The one pass of some lines; kept, since most of the dozen of a setup recur in later ones."""
    lines = schedule.inline(parse(text), dict(formulas))
    shapes = infer(lines, dict.fromkeys(known, VECTOR) | dict.fromkeys(numbers, SCALAR))
    steps = schedule.plan(lines, tall_names(shapes), known, {})
    if len(steps) != 1 or not isinstance(steps[0], schedule.Pass) or steps[0].scalars:
        raise LinesError(f"these lines take {len(steps)} steps, not one pass over the vectors:\n{text}")
    return steps[0], shapes
