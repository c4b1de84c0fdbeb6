"""Paper lines as functions in Python text, which the compiler reads.

A pass has four: `before` evaluates its scalar lines, `numbers` returns the scalars that its rows read, `row` computes
its lines in one row and returns the terms of its dot products, `after` stores their sums.

Variables begin with v for a vector's element in the row, s for a scalar, and c for a scalar in the precision of
vectors; a_ is an array. Scalars and small matrices lie in `scalars`; the rows of block vectors lie behind one another.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import NamedTuple

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import Row
from workbench.compiler.source import function_of_text
from workbench.compiler.words import WORDS
from workbench.lines import entries, types
from workbench.lines.entries import Element, elements, of_line, of_lines, offset_of
from workbench.lines.schedule import Pass
from workbench.lines.types import Formula, Name, Shapes, Solve, work_of


def solve(scalars, matrix, right, target, copied, *, n, m):
    """Gaussian elimination with row exchanges, for n unknowns and m right-hand sides, n^3/3 + n^2 m multiplications.

    matrix, right, target: where these begin in `scalars`. copied: where n^2 numbers may be overwritten. A singular
    matrix gives infinities or NaN, no error.
    """
    for k in range(n * n):
        scalars[copied + k] = scalars[matrix + k]
    for k in range(n * m):
        scalars[target + k] = scalars[right + k]
    for p in range(n):
        top = p
        for i in range(p + 1, n):
            if abs(scalars[copied + i * n + p]) > abs(scalars[copied + top * n + p]):
                top = i
        for k in range(n):
            value = scalars[copied + p * n + k]
            scalars[copied + p * n + k] = scalars[copied + top * n + k]
            scalars[copied + top * n + k] = value
        for k in range(m):
            value = scalars[target + p * m + k]
            scalars[target + p * m + k] = scalars[target + top * m + k]
            scalars[target + top * m + k] = value
        for i in range(p + 1, n):
            factor = scalars[copied + i * n + p] / scalars[copied + p * n + p]
            for k in range(p, n):
                scalars[copied + i * n + k] -= factor * scalars[copied + p * n + k]
            for k in range(m):
                scalars[target + i * m + k] -= factor * scalars[target + p * m + k]
    for q in range(n):
        last = n - 1 - q
        for k in range(m):
            value = scalars[target + last * m + k]
            for i in range(last + 1, n):
                value -= scalars[copied + last * n + i] * scalars[target + i * m + k]
            scalars[target + last * m + k] = value / scalars[copied + last * n + last]


NAMES: dict[str, object] = {name: word for word, name in WORDS.items()} | {"solve": solve}


class PassFunctions(NamedTuple):
    """The functions of a pass, as constants of a kernel of the cores (see `jit.pass_frames`)."""

    before: Row
    numbers: Row
    row: Row
    after: Row

    @classmethod
    def of(cls, step: Pass, text: LinesText, vector: np.dtype) -> PassFunctions:
        """The functions of a pass. vector: the dtype of vectors."""
        texts = text.before(step.scalars), text.numbers(step), text.row(step), text.after(step)
        return cls(*(row_of(each, vector, types.accumulator(vector)) for each in texts))


def row_of(text: Iterable[str], vector: np.dtype, wide: np.dtype) -> Row:
    """The function that lines of text define, for vectors and sums of these dtypes."""
    return Row(_function("\n".join([*text, ""])), named({".wide": wide, ".narrow": vector}))


@functools.lru_cache(1024)
def _function(text: str) -> FunctionType:
    return function_of_text(text, NAMES)


class LinesText(NamedTuple):
    """Lines of functions.

    places: where each scalar and the first entry of each small matrix lies in `scalars`, as text. stored: vectors that
    are kept in another precision. split: vectors to which a coarse vector is added where they are read, to row i of u
    rest_u[parts_u[i]]; these arrays are behind the others.
    """

    shapes: Shapes
    places: Mapping[str, str]
    stored: frozenset[str]
    split: tuple[str, ...] = ()

    def row(self, step: Pass) -> list[str]:
        """Computes the lines of a pass in a row; returns the terms of its dot products."""
        arrays = [f"a_{name}" for name in step.arrays]
        arrays += [f"{part}_{name}" for part in ("rest", "parts") for name in self.split]
        body, terms = [unpacked(arrays, "arrays")], list[str]()
        body.append(unpacked([variable("c", one) for one in self._given(step)], "given"))
        for name, one in self._all(step.loads):
            value = f"at(a_{name}, {self._place_in_rows(one)})"
            value = f"narrow({value})" if name in self.stored else value
            value += f" + narrow(at(rest_{name}, at(parts_{name}, row)))" if name in self.split else ""
            body.append(f"{variable('v', one)} = {value}")
        for made in of_lines(step.body, self.shapes):
            if isinstance(made, entries.Sum):
                left, right = (variable("v", side) for side in (made.left, made.right))
                terms.append(f"term_{len(terms)}")
                # Here, since later lines may set what it is a product of.
                body.append(f"{terms[-1]} = conj(wide({left})) * wide({right})")
            else:
                body.append(f"{variable('v', made.target)} = {self._number(made.expression, 'c')}")
        for name, one in self._all(step.stores):
            body.append(f"set_at(a_{name}, {self._place_in_rows(one)}, {variable('v', one)})")
        return _text("row(row, arrays, given)", [*body, _returned(terms)])

    def numbers(self, step: Pass) -> list[str]:
        """Returns the scalars that the rows of a pass read, in the precision of vectors."""
        values = (f"narrow({self._scalar(one)})" for one in self._given(step))
        return _text("numbers(scalars, slots)", [_returned(values)])

    def before(self, lines: Iterable[Formula | Solve]) -> list[str]:
        """Evaluates scalar lines in order and stores the results."""
        body: list[str] = []
        known: set[Element] = set()
        for line in lines:
            targets = set(elements(line.target, self.shapes))
            if isinstance(line, Solve):
                body.append(self._solution(line))
                known -= targets
                continue
            missing = [one for _, one in self._all(line.reads) if one not in known]
            body += [f"{variable('s', one)} = {self._scalar(one)}" for one in missing]
            known |= {*missing, *targets}
            for made in of_line(line, self.shapes):
                assert not isinstance(made, entries.Sum)
                body.append(f"{variable('s', made.target)} = {self._number(made.expression, 's')}")
                if made.target in targets:
                    body.append(f"{self._scalar(made.target)} = {variable('s', made.target)}")
        return _text("before(scalars, slots)", body)

    def after(self, step: Pass) -> list[str]:
        """Stores the sums of dot products."""
        targets = [made.target for made in of_lines(step.dots, self.shapes)]
        return _text(
            "after(scalars, slots, sums)", [f"{self._scalar(one)} = sums[{k}]" for k, one in enumerate(targets)]
        )

    def _all(self, names: Iterable[str]) -> list[tuple[str, Element]]:
        return [(name, element) for name in names for element in elements(name, self.shapes)]

    def _given(self, step: Pass) -> list[Element]:
        """The scalars that the rows read."""
        read = [name for line in step.body if isinstance(line, Formula) for name in line.reads]
        return [one for _, one in self._all(name for name in dict.fromkeys(read) if not self.shapes[name].has_rows)]

    def _place_in_rows(self, element: Element) -> str:
        if isinstance(element, Name):
            return "row"
        return f"row*{self.shapes[element.name].columns} + {element.column}"

    def _place(self, name: str, more: int = 0) -> str:
        return self.places[name] + (f" + {more}" if more else "")

    def _scalar(self, element: Element) -> str:
        return f"scalars[{self._place(element.name, offset_of(element, self.shapes))}]"

    def _number(self, node: types.Expression, letter: str) -> str:
        """An expression of entries. letter: c in the precision of vectors, s in that of sums."""

        def made(part: types.Expression) -> str:
            match part:
                case Name(name=name) | types.Entry(name=name):
                    return variable("v" if self.shapes[name].has_rows else letter, part)
                case types.Number(value=value):
                    # A name that stands for a number alone has the precision of the others.
                    return f"{'narrow' if letter == 'c' else 'wide'}({value!r})"
                case types.Binary(sign=sign, left=left, right=right):
                    return f"({made(left)} {sign} {made(right)})"
                case types.Negation(operand=operand):
                    return f"(-{made(operand)})"
                case types.Call(function=function, argument=argument):
                    return f"{function}({made(argument)})"
                case types.Selection(test=test, body=body, otherwise=otherwise):
                    compared = f"real({made(test.left)}) {test.sign} real({made(test.right)})"
                    return f"({made(body)} if {compared} else {made(otherwise)})"

        return made(node)

    def _solution(self, line: Solve) -> str:
        right = self.shapes.get(line.right, types.SCALAR)
        places = ", ".join(self._place(name) for name in (line.matrix, line.right, line.target, work_of(line)))
        return f"solve(scalars, {places}, n={right.rows}, m={right.columns})"


def variable(letter: str, element: Element) -> str:
    """The variable of an entry: s_alpha for a scalar, s0x1_alpha for an entry of a small matrix."""
    if isinstance(element, Name):
        return f"{letter}_{element.name}"
    return f"{letter}{element.row}x{element.column}_{element.name}"


def _text(head: str, body: Sequence[str]) -> list[str]:
    return [f"def {head}:", *(f"    {line}" for line in body or ["pass"])]


def unpacked(names: Sequence[str], value: str) -> str:
    """The statement that gives names to the entries of a tuple."""
    return f"{', '.join(names)}, = {value}" if names else "pass"


def _returned(values: Iterable[str]) -> str:
    return f"return ({''.join(f'{value}, ' for value in values)})"
