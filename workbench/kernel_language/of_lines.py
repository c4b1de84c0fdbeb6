"""Paper lines as typed trees, for accelerators: the lines of a pass in a row, and scalar lines, evaluated once.

Names begin with a_ for an array, v_ for a vector's element in the row, s_ for a scalar, and c_ for a scalar in the
precision of vectors. Scalars and small matrices lie in the array `scalars`, rows of block vectors behind one another.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np

from workbench.kernel_language import tree
from workbench.kernel_language.grammar import kernel
from workbench.kernel_language.tree import Assign, Block, Expression, Store, Type, Typed, Variable, real_of
from workbench.kernel_language.typing import typed
from workbench.lines import entries, types
from workbench.lines.entries import elements, of_line, of_lines
from workbench.lines.schedule import Pass
from workbench.lines.types import Formula, Name, Shapes, Solve, work_of

WHOLE = Type(tree.INTEGER)
ROW = Variable("row", WHOLE)


@dataclasses.dataclass(frozen=True)
class LineTrees:
    """Makes trees of the lines of one program.

    shapes: of every name. places: where each scalar and the first entry of each small matrix lies in `scalars`.
    vector, wide: the dtypes of vectors and of sums. stored: the dtypes of the vectors that are kept in another one.
    split: the vectors to which a coarse vector is added where they are read, to row i of u rest_u[parts_u[i]].
    """

    shapes: Shapes
    places: Mapping[str, Expression]
    vector: np.dtype
    wide: np.dtype
    stored: Mapping[str, np.dtype] | None = None
    split: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Texts are kept by the trees that they are made of."""
        return hash((*self.shapes, *self.places, self.vector, self.wide))

    def rows(self, step: Pass) -> Typed:
        """The kernel `body` of a pass: its lines in every row, and the sums of its dot products."""
        kind, body, sums = Type(self.vector), [], 0
        body += [Assign(variable("v", one), self._loaded(one, kind)) for one in self._all(step.loads)]
        for made in of_lines(step.body, self.shapes):
            if isinstance(made, entries.Sum):
                body.append(tree.Sum((self._product(made),), first=sums))
                sums += 1
            else:
                body.append(Assign(variable("v", made.target), self._number(made.expression, "c")))
        for one in self._all(step.stores):
            place = self._entry(one)
            body.append(Store(place.array, place.place, converted(Variable(variable("v", one), kind), place.type)))
        read = [name for line in step.body if isinstance(line, Formula) for name in line.reads]
        numbers = self._all(name for name in dict.fromkeys(read) if not self.shapes[name].has_rows)
        arrays = {
            f"a_{name}": tree.Argument(self._stored(name), True, name in step.loads, name in step.stores)
            for name in step.arrays
        }
        given = {f"rest_{name}": Type(self.wide) for name in self.split}
        given |= {f"parts_{name}": Type(np.dtype(np.int32)) for name in self.split}
        given["scalars"] = Type(self.wide)
        return Typed(
            name="body",
            row=ROW.name,
            arguments=arrays | {name: tree.Argument(of, True, True, False) for name, of in given.items()},
            vector=self.vector,
            wide=self.wide,
            body=tuple(body),
            variables={line.name: kind for line in body if isinstance(line, Assign)},
            sums=sums,
            numbers=tuple(Assign(variable("c", one), converted(self.scalar(one), kind)) for one in numbers),
        )

    def once(self, lines: Iterable[Formula | Solve]) -> Typed:
        """A kernel that evaluates scalar lines in order and stores the results, all in `before`."""
        body: list[tree.Statement] = []
        variables: dict[str, Type] = {}
        known: set[entries.Element] = set()
        for line in lines:
            targets = set(elements(line.target, self.shapes))
            if isinstance(line, Solve):
                statements, more = self._solution(line)
                body += statements
                variables |= more
                known -= targets
                continue
            missing = [one for one in self._all(line.reads) if one not in known]
            body += [Assign(variable("s", one), self.scalar(one)) for one in missing]
            known |= {*missing, *targets}
            for made in of_line(line, self.shapes):
                assert not isinstance(made, entries.Sum)
                value = self._number(made.expression, "s")
                body.append(Assign(variable("s", made.target), value))
                if made.target in targets:
                    place = self._place(made.target)
                    body.append(Store("scalars", place, Variable(variable("s", made.target), value.type)))
        variables |= {line.name: line.value.type for line in body if isinstance(line, Assign)}
        scalars = tree.Argument(Type(self.wide), array=True, read=True, written=True)
        return Typed("once", ROW.name, {"scalars": scalars}, self.vector, self.wide, (), variables, before=tuple(body))

    def scalar(self, element: entries.Element) -> tree.Element:
        """A scalar, or an entry of a small matrix, where it is kept."""
        return tree.Element("scalars", self._place(element), Type(self.wide))

    def _place(self, element: entries.Element) -> Expression:
        return _plus(self.places[element.name], entries.offset_of(element, self.shapes))

    def _all(self, names: Iterable[str]) -> list[entries.Element]:
        return [element for name in names for element in elements(name, self.shapes)]

    def _stored(self, name: str) -> Type:
        return Type((self.stored or {}).get(name, self.vector))

    def _entry(self, element: entries.Element) -> tree.Element:
        """An element of a vector, or of a column of a block vector, in its array."""
        place: Expression = ROW
        if isinstance(element, types.Entry):
            columns = tree.Constant(self.shapes[element.name].columns, WHOLE)
            place = _plus(tree.Operation("*", ROW, columns, WHOLE), element.column)
        return tree.Element(f"a_{element.name}", place, self._stored(element.name))

    def _loaded(self, element: entries.Element, kind: Type) -> Expression:
        """What is read of a vector, with what completes it."""
        value = converted(self._entry(element), kind)
        if not isinstance(element, Name) or element.name not in self.split:
            return value
        part = tree.Element(f"parts_{element.name}", ROW, Type(np.dtype(np.int32)))
        rest = tree.Element(f"rest_{element.name}", part, Type(self.wide))
        return tree.Operation("+", value, converted(rest, kind), kind)

    def _product(self, made: entries.Sum) -> Expression:
        """The term of a dot product."""
        kind = Type(self.wide)
        vectors = (Variable(variable("v", side), Type(self.vector)) for side in (made.left, made.right))
        left, right = (converted(vector, kind) for vector in vectors)
        return tree.Operation("*", conjugated(left), right, kind)

    def _number(self, node: types.Expression, letter: str) -> Expression:
        """An expression of entries. letter: c in the precision of vectors, s in that of sums."""
        kind = Type(self.vector if letter == "c" else self.wide)

        def made(part: types.Expression) -> Expression:
            match part:
                case Name(name=name) | types.Entry(name=name):
                    return Variable(variable("v" if self.shapes[name].has_rows else letter, part), kind)
                case types.Number(value=value):
                    return tree.Constant(value, kind)
                case types.Binary(sign=sign, left=left, right=right):
                    return tree.Operation(sign, made(left), made(right), kind)
                case types.Negation(operand=operand):
                    return tree.Negation(made(operand), kind)
                case types.Call(function="conj", argument=argument):
                    return conjugated(made(argument))
                case types.Call(function="abs", argument=argument):
                    return converted(tree.Call("abs", (made(argument),), Type(real_of(kind.dtype))), kind)
                case types.Call(function=function, argument=argument):
                    return tree.Call(function, (made(argument),), kind)
                case types.Selection(test=test, body=body, otherwise=otherwise):
                    sides = real_part(made(test.left)), real_part(made(test.right))
                    return tree.Choice(tree.Comparison(test.sign, *sides), made(body), made(otherwise), kind)

        return made(node)

    def _solution(self, line: Solve) -> tuple[Block, dict[str, Type]]:
        right = self.shapes.get(line.right, types.SCALAR)
        places = {"matrix": line.matrix, "right": line.right, "target": line.target, "copied": work_of(line)}
        dtypes = {"scalars": self.wide, **dict.fromkeys(places, tree.INTEGER)}
        of = typed(solve, dtypes, self.wide, self.wide, constants={"n": right.rows, "m": right.columns})
        begin = [Assign(name, self.places[where]) for name, where in places.items()]
        return (*begin, *of.body), of.variables


@kernel()
def solve(row, scalars, matrix, right, target, copied, *, n, m):
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
            held = scalars[copied + p * n + k]
            scalars[copied + p * n + k] = scalars[copied + top * n + k]
            scalars[copied + top * n + k] = held
        for k in range(m):
            held = scalars[target + p * m + k]
            scalars[target + p * m + k] = scalars[target + top * m + k]
            scalars[target + top * m + k] = held
        for i in range(p + 1, n):
            factor = scalars[copied + i * n + p] / scalars[copied + p * n + p]
            for k in range(p, n):
                scalars[copied + i * n + k] -= factor * scalars[copied + p * n + k]
            for k in range(m):
                scalars[target + i * m + k] -= factor * scalars[target + p * m + k]
    for q in range(n):
        last = n - 1 - q
        for k in range(m):
            held = scalars[target + last * m + k]
            for i in range(last + 1, n):
                held -= scalars[copied + last * n + i] * scalars[target + i * m + k]
            scalars[target + last * m + k] = held / scalars[copied + last * n + last]


def variable(letter: str, element: entries.Element) -> str:
    """The variable of an entry: s_alpha for a scalar, s0x1_alpha for an entry of a small matrix."""
    if isinstance(element, Name):
        return f"{letter}_{element.name}"
    return f"{letter}{element.row}x{element.column}_{element.name}"


def _plus(place: Expression, more: int) -> Expression:
    if isinstance(place, tree.Constant):
        return tree.Constant(place.value + more, WHOLE)
    return tree.Operation("+", place, tree.Constant(more, WHOLE), WHOLE) if more else place


def converted(value: Expression, kind: Type) -> Expression:
    """The value in a type."""
    return value if value.type == kind else tree.Convert(value, kind)


def conjugated(value: Expression) -> Expression:
    """The complex conjugate of a number or a row, or what is real itself."""
    return tree.Call("conj", (value,), value.type) if value.type.is_complex else value


def real_part(value: Expression) -> Expression:
    """The real part of a number, or the number."""
    kind = Type(real_of(value.type.dtype))
    return tree.Call("real", (value,), kind) if value.type.is_complex else value
