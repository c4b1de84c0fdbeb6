"""Typed kernels: expressions and statements whose types are known and whose conversions are nodes of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np

INTEGER, TRUTH = np.dtype(np.int64), np.dtype(np.bool_)
"""The types of integers in arithmetic, and of tests."""


def real_of(dtype: np.dtype) -> np.dtype:
    """The type of the parts of a complex number; that of a real one itself."""
    return np.finfo(dtype).dtype if dtype.kind == "c" else dtype


@dataclasses.dataclass(frozen=True)
class Type:
    """row: a row of a block vector, as many numbers as that has columns. weak: a literal, which takes the type of what
    it meets."""

    dtype: np.dtype
    row: bool = False
    weak: bool = False

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind in "iu"


# Expressions.


@dataclasses.dataclass(frozen=True)
class Constant:
    value: float
    type: Type


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable, a number among the arguments, or the row."""

    name: str
    type: Type


@dataclasses.dataclass(frozen=True)
class Element:
    """array[place]; of a block vector a row."""

    array: str
    place: Expression
    type: Type


@dataclasses.dataclass(frozen=True)
class Convert:
    """The value in another type. A number becomes a row by standing for all of its columns."""

    value: Expression
    type: Type


@dataclasses.dataclass(frozen=True)
class Operation:
    """left sign right, both of the same type.

    But a product with a real number, or with a number of a row, has that as its left side: it needs no more than that.
    """

    sign: str
    left: Expression
    right: Expression
    type: Type


@dataclasses.dataclass(frozen=True)
class Negation:
    value: Expression
    type: Type


@dataclasses.dataclass(frozen=True)
class Comparison:
    """left sign right, both real and of the same type."""

    sign: str
    left: Expression
    right: Expression
    type: Type = Type(TRUTH)


@dataclasses.dataclass(frozen=True)
class Both:
    """Whether all tests hold, or with `any` at least one."""

    tests: tuple[Expression, ...]
    any: bool
    type: Type = Type(TRUTH)


@dataclasses.dataclass(frozen=True)
class Not:
    test: Expression
    type: Type = Type(TRUTH)


@dataclasses.dataclass(frozen=True)
class Choice:
    """body if test else otherwise, both of the same type."""

    test: Expression
    body: Expression
    otherwise: Expression
    type: Type


@dataclasses.dataclass(frozen=True)
class Call:
    """conj, real, abs, sqrt of one argument; min, max of two of the same type."""

    function: str
    arguments: tuple[Expression, ...]
    type: Type


Expression = Constant | Variable | Element | Convert | Operation | Negation | Comparison | Both | Not | Choice | Call


# Statements.


@dataclasses.dataclass(frozen=True)
class Assign:
    """A variable, of the type of the value."""

    name: str
    value: Expression


@dataclasses.dataclass(frozen=True)
class Store:
    """array[place] = value, of the array's type."""

    array: str
    place: Expression
    value: Expression


@dataclasses.dataclass(frozen=True)
class For:
    """The body for name = first, first + step, .. below end, all integers."""

    name: str
    first: Expression
    end: Expression
    step: Expression
    body: tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class While:
    test: Expression
    body: tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class If:
    test: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class Leave:
    """break or continue."""

    word: str


@dataclasses.dataclass(frozen=True)
class Sum:
    """The terms of a row, in the type of sums; of a kernel with dots the two vectors' entries.

    first: the sum that the first term is added to.
    """

    terms: tuple[Expression, ...]
    first: int = 0


Statement = Assign | Store | For | While | If | Leave | Sum
Block = tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class Argument:
    """An array, or a number; written: an array that the kernel writes; read: one that it reads."""

    type: Type
    array: bool
    read: bool
    written: bool


PAIRS = (("left_", "right_"), ("right_", "right_"), ("left_", "left_"))
"""The dot products of a kernel with dots, in the order of `lines.types.OperatorDot`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Typed:
    """A kernel whose types are known.

    arguments: by name, in the order of the text, those that are used. vector, wide: the types of vectors and of sums.
    columns: of a row of a block vector. body: the statements of a row; with a halo, of one that is farther than that
    from both ends, and `edge` those of any row. variables: the types of all that are assigned and of no loop. numbers:
    assignments of what is the same for all rows. wanted: no row is computed where this does not hold.

    before: statements of one work-item before all rows.
    """

    name: str
    row: str
    arguments: dict[str, Argument]
    vector: np.dtype
    wide: np.dtype
    body: Block
    variables: dict[str, Type]
    columns: int = 1
    edge: Block = ()
    halo: Expression | None = None
    dots: bool = False
    sums: int = 0
    """Numbers that are summed: 3 with dots, of block vectors one for every column."""
    numbers: tuple[Assign, ...] = ()
    wanted: Expression | None = None
    before: Block = ()

    @property
    def blocks(self) -> list[str]:
        """The arguments that are block vectors."""
        return [name for name, argument in self.arguments.items() if argument.type.row]


ROWS = Variable("rows_", Type(INTEGER))
"""The number of rows, as printed texts call it."""


def expressions(node: Expression) -> Iterator[Expression]:
    """An expression and all below it."""
    yield node
    for part in _parts(node):
        yield from expressions(part)


def _parts(node: Expression) -> Iterable[Expression]:
    match node:
        case Element(place=place):
            return (place,)
        case Convert(value=value) | Negation(value=value):
            return (value,)
        case Operation(left=left, right=right) | Comparison(left=left, right=right):
            return (left, right)
        case Both(tests=tests):
            return tests
        case Not(test=test):
            return (test,)
        case Choice(test=test, body=body, otherwise=otherwise):
            return (test, body, otherwise)
        case Call(arguments=arguments):
            return arguments
    return ()
