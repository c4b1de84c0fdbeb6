"""The typed form of paper lines: shapes, expressions, lines, and the error that names a place in the text."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Iterator, Mapping

import numpy as np

from workbench.errors import InputError

FUNCTIONS = ("sqrt", "abs", "conj")


@dataclasses.dataclass(frozen=True)
class Place:
    """The place where something begins in a text; line and column count from 1."""

    line: int
    column: int


START = Place(1, 1)


class LinesError(InputError):
    """A line that cannot be parsed, or does not fit the names, types and shapes it is given.

    The sentence quotes the line. line, column: where, counted from 1 in the program's text; None where the error
    belongs to no line. program: which of the texts compiled together, counted from 0.

    Examples:
        >>> from workbench.lines import LinesError
        >>> from workbench.lines.parse import parse
        >>> try: parse("x = A(p) + q")
        ... except LinesError as error: print(error.line, error)
        1 line 'x = A(p) + q': an operator must stand alone on its line, as in s = A(p)
    """

    def __init__(self, sentence: str, place: Place | None = None, program: int = 0) -> None:
        super().__init__(sentence)
        self.line = place.line if place else None
        self.column = place.column if place else None
        self.program = program


class Kind(enum.Enum):
    """The kind of a name. Vectors and blocks have a row per unknown; the other two are the same for all rows."""

    SCALAR = "a scalar"
    VECTOR = "a vector"
    BLOCK = "a block vector"
    SMALL = "a small matrix"


@dataclasses.dataclass(frozen=True)
class Shape:
    """Kind and extent: a block vector is N x columns, a small matrix rows x columns."""

    kind: Kind
    rows: int = 1
    columns: int = 1

    @property
    def has_rows(self) -> bool:
        """True if there is a row per unknown."""
        return self.kind in (Kind.VECTOR, Kind.BLOCK)

    @property
    def words(self) -> int:
        """Numbers in the shape, per unknown where it has rows."""
        return self.rows * self.columns

    def __str__(self) -> str:
        match self.kind:
            case Kind.BLOCK:
                return f"an N x {self.columns} block vector"
            case Kind.SMALL:
                return f"a {self.rows} x {self.columns} matrix"
        return self.kind.value


SCALAR, VECTOR = Shape(Kind.SCALAR), Shape(Kind.VECTOR)
Shapes = Mapping[str, Shape]


def block(columns: int) -> Shape:
    """The shape of an N x columns block vector."""
    return Shape(Kind.BLOCK, 1, columns)


def small(rows: int, columns: int) -> Shape:
    """The shape of a small matrix."""
    return Shape(Kind.SMALL, rows, columns)


def tall_names(shapes: Shapes) -> frozenset[str]:
    """The names of vectors and block vectors."""
    return frozenset(name for name, shape in shapes.items() if shape.has_rows)


def accumulator(dtype: np.dtype) -> np.dtype:
    """The dtype of scalars and dot products: double precision, complex where the vectors are."""
    return np.dtype(np.complex128 if np.issubdtype(dtype, np.complexfloating) else np.float64)


class OperatorDot(enum.StrEnum):
    """A dot product of an operator's argument x and result y; operators return them in this order."""

    XY = "xy"
    YY = "yy"
    XX = "xx"

    @property
    def place(self) -> int:
        """The place among the dot products that an operator returns."""
        return tuple(OperatorDot).index(self)


# Expressions. Their text form is valid input of the parser again.


@dataclasses.dataclass(frozen=True)
class Name:
    name: str
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class Entry:
    """One column of a block vector, or one entry of a small matrix; made by `entries`, never parsed."""

    name: str
    row: int
    column: int


@dataclasses.dataclass(frozen=True)
class Number:
    value: float
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return repr(self.value)


@dataclasses.dataclass(frozen=True)
class Binary:
    """left sign right, with a sign of + - * / element by element, or @, a matrix product."""

    sign: str
    left: Expression
    right: Expression
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


@dataclasses.dataclass(frozen=True)
class Negation:
    operand: Expression
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return f"(-{self.operand})"


@dataclasses.dataclass(frozen=True)
class Call:
    """A function of the language, element by element."""

    function: str
    argument: Expression
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.function}({self.argument})"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """left sign right, with a sign of < <= > >=; of complex numbers the real parts are compared."""

    sign: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


@dataclasses.dataclass(frozen=True)
class Selection:
    """body if test else otherwise."""

    test: Comparison
    body: Expression
    otherwise: Expression
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    def __str__(self) -> str:
        return f"({self.body} if {self.test} else {self.otherwise})"


Expression = Name | Entry | Number | Binary | Negation | Call | Selection
Node = Expression | Comparison


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node, in the order of Python's syntax tree."""
    match node:
        case Binary() | Comparison():
            return node.left, node.right
        case Negation():
            return (node.operand,)
        case Call():
            return (node.argument,)
        case Selection():
            return node.test, node.body, node.otherwise
    return ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, level by level."""
    level = [node]
    while level:
        yield from level
        level = [part for above in level for part in parts(above)]


def renamed(node: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with other names."""

    def change(part: Expression) -> Expression:
        match part:
            case Name():
                return dataclasses.replace(part, name=names.get(part.name, part.name))
            case Binary():
                return dataclasses.replace(part, left=change(part.left), right=change(part.right))
            case Negation():
                return Negation(change(part.operand), part.place)
            case Call():
                return Call(part.function, change(part.argument), part.place)
            case Selection():
                test = Comparison(part.test.sign, change(part.test.left), change(part.test.right))
                return Selection(test, change(part.body), change(part.otherwise), part.place)
        return part

    return change(node)


# Lines.


@dataclasses.dataclass(frozen=True)
class Formula:
    """target = expression, for all shapes."""

    target: str
    expression: Expression
    text: str
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    @functools.cached_property
    def reads(self) -> tuple[str, ...]:
        """The names that the expression reads, each once, in order."""
        return tuple(dict.fromkeys(node.name for node in walk(self.expression) if isinstance(node, Name | Entry)))

    def renamed(self, names: Mapping[str, str]) -> Formula:
        """The line with other names; its text stays."""
        return dataclasses.replace(self, target=names[self.target], expression=renamed(self.expression, names))


@dataclasses.dataclass(frozen=True)
class Dot:
    """target = (left, right): left^H right, a scalar for vectors and the Gram matrix for block vectors.

    columnwise: target = dots(left, right), the dot products of corresponding columns, a 1 x s matrix.
    """

    target: str
    left: str
    right: str
    text: str
    place: Place = dataclasses.field(default=START, compare=False, repr=False)
    columnwise: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        return self.left, self.right

    def renamed(self, names: Mapping[str, str]) -> Dot:
        """The line with other names; its text stays."""
        target, left, right = names[self.target], names[self.left], names[self.right]
        return dataclasses.replace(self, target=target, left=left, right=right)


@dataclasses.dataclass(frozen=True)
class Solve:
    """target = solve(matrix, right): matrix^-1 right, for small matrices or scalars."""

    target: str
    matrix: str
    right: str
    text: str
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return self.matrix, self.right

    def renamed(self, names: Mapping[str, str]) -> Solve:
        """The line with other names; its text stays."""
        target, matrix, right = names[self.target], names[self.matrix], names[self.right]
        return dataclasses.replace(self, target=target, matrix=matrix, right=right)


def work_of(line: Solve) -> str:
    """The name of the room for a copy of the matrix that a solution needs; no name of a line is like it."""
    return f"{line.target} = solve({line.matrix})"


@dataclasses.dataclass(frozen=True)
class Application:
    """target = operator(argument)."""

    target: str
    operator: str
    argument: str
    text: str
    place: Place = dataclasses.field(default=START, compare=False, repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.argument,)


Line = Formula | Dot | Solve | Application
