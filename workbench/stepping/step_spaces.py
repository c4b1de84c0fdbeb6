"""The workspace of a method that is stepped through: its lines run one by one in NumPy, and every one is reported.

A method's own `iterates` runs here, so its lines come in the order of a run, with what it computes between its programs
(`NamedVectors.shown`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from workbench.devices.element_wise import ElementWise
from workbench.devices.programs.named_vectors import NamedVectors
from workbench.lines.interpret import evaluate_line
from workbench.lines.parse import parse
from workbench.lines.shapes import infer, infer_vectors
from workbench.lines.types import Dot, Line, Shape, Shapes, block

if TYPE_CHECKING:
    from workbench.devices.protocol import Device

    T = TypeVar("T")


Values = dict[str, Any]
"""Vectors, scalars and small matrices by name. No array in it is ever changed."""


@dataclasses.dataclass(frozen=True)
class StepLine:
    """A line that has run. name: what it sets, and target: where its value is among `Values`; empty for a copy or a
    wait. lane: of a hybrid schedule, as in `devices.clock`. words: the text is a formula in words, not a paper line.
    moved: numbers that a copy moves."""

    text: str
    name: str = ""
    target: str = ""
    lane: str = ""
    words: bool = False
    moved: int = 0


Listener = Callable[[StepLine, Values], None]
"""Takes a line that has run and what it changed."""


class StepSpace(NamedVectors[Any]):
    """The vectors, scalars and small matrices of a method on the cores; with `columns`, its vectors are N x columns.

    Of one column they are reported as vectors, with small letters, and as scalars. lane: of a hybrid schedule. key:
    where among the values a name is; also: what else a change of a vector changes.
    """

    stepping = True
    all_norms = False

    def __init__(
        self,
        device: Device,
        size: int,
        dtype: np.dtype,
        listener: Listener,
        *,
        vectors: Mapping[str, Any],
        operators: Mapping[str, Any],
        columns: int = 0,
        lane: str = "",
        key: Callable[[str, bool], str] = lambda name, _: name,
        also: Callable[[str], Values] = lambda _: {},
    ) -> None:
        super().__init__(device, size, dtype, vectors=vectors, operators=operators)
        self.columns, self.lane = columns, lane
        self.matrices: Values = {}
        """Scalars and small matrices."""
        self._listener, self._key, self._also = listener, key, also
        if columns:
            self.default_shape = block(columns)

    def lines(self, *texts: str, matrices: Mapping[str, Shape] | None = None) -> tuple[Callable[[], None], ...]:
        """Programs that run their lines one by one. matrices: the shapes of those that the method sets."""
        programs = [parse(text) for text in texts]
        everything = [line for lines in programs for line in lines]
        rows = {*self.vectors, *infer_vectors(everything, list(self.vectors))}
        shapes = infer(everything, {**dict.fromkeys(rows, self.default_shape), **(matrices or {})})
        self._shapes |= shapes
        for name, shape in shapes.items():
            if shape.has_rows:
                self.vector(name)
        return tuple(functools.partial(self._run, lines, shapes) for lines in programs)

    def inlines(self, operator: str) -> bool:
        """A hybrid schedule as it is; other methods in their general form, with every line."""
        return bool(self.lane) and super().inlines(operator)

    def scalar(self, name: str) -> Any:
        return self.matrices[name]

    def set_scalar(self, name: str, value: complex) -> None:
        self.matrices[name] = value

    def declare(self, *names: str) -> None:
        """Scalars need no room here."""

    def shown(self, line: str, value: T) -> T:
        """Report a value that the method computes between its programs."""
        self._report(line, line.partition(" = ")[0], value, words=True)
        return value

    def _run(self, lines: Sequence[Line], shapes: Shapes) -> None:
        for line in lines:
            values = {**self.vectors, **self.matrices}
            evaluate_line(line, shapes, values, {name: functools.partial(self._apply, name) for name in self.operators})
            made = values[line.target]
            if shapes[line.target].has_rows:
                self.vectors[line.target][...] = made
            else:
                # As numbers that belong to the columns.
                made = made.reshape(-1) if isinstance(line, Dot) and line.columnwise and np.ndim(made) else made
                self.matrices[line.target] = made
            self._report(line.text.strip(), line.target, made)

    def _apply(self, name: str, v: np.ndarray) -> np.ndarray:
        device, operator = self.device, self.operators[name]
        if self.columns:
            operator, out = self.block_operator(name, self.columns), device.zero_block(*v.shape, v.dtype)
        else:
            out = device.zeros(v.size, v.dtype)
            if isinstance(operator, ElementWise):
                operator = device.applied(operator, v.size, v.dtype)
        operator.apply(v, out)
        return out

    def _report(self, text: str, name: str, value: object, *, words: bool = False) -> None:
        vector = self.vectors.get(name)
        # Of one column, and without M, W is Q.
        names = [name] if vector is None else [other for other, held in self.vectors.items() if held is vector]
        kept = np.array(value)
        if self.columns == 1:
            kept = kept.reshape(() if vector is None else -1)
            text, name, *names = (of_one_column(each, self.vectors) for each in (text, name, *names))
        keys = {each: self._key(each, vector is not None) for each in names}
        changes = dict.fromkeys(keys.values(), kept[()]) | self._also(name)
        self._listener(StepLine(text, name, keys.get(name, name), self.lane, words), changes)


def of_one_column(text: str, blocks: Collection[str]) -> str:
    """A line on block vectors as one on vectors."""
    text = re.sub(r"dots\((\w+), (\w+)\)", r"(\1, \2)", text)
    return re.sub(r"\w+", lambda name: name[0].lower() if name[0] in blocks else name[0], text)
