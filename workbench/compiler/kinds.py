"""Kinds of expressions while the tree is made, and the scalars of each."""

from __future__ import annotations

import dataclasses
import enum
import types
from typing import NamedTuple

import numpy as np

from workbench.compiler.tree import Node, Pointer, Scalar, Type, Vector
from workbench.errors import InputError

BOOL, INT, FLOAT, DOUBLE = np.dtype("bool"), np.dtype("int64"), np.dtype("float32"), np.dtype("float64")
"""Kinds of numbers. Integers have 64 bits and a sign in registers, whatever they have in memory."""
DTYPES = frozenset(
    map(np.dtype, ("bool", *(f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)), *("f4", "f8", "c8", "c16")))
)
"""The dtypes of numbers in memory."""


class Literal(enum.Enum):
    """A number in the text: it takes the kind of what it meets. Fractions do so in functions of rows alone."""

    INTEGER = "an integer literal"
    FRACTION = "a fraction as a literal"


@dataclasses.dataclass(frozen=True)
class Array:
    """Elements row by row; with no dimension, one element and where it is. own: of one thread, made by `local`. group:
    of a group of work-items, made by `shared_array`.

    tile: if not 0, the columns of its elements, which are tiles of the rows of a block vector; the length of a row is
    another scalar of the array. strided: it is a column of a block vector, whose elements are a row apart; the length
    of a row is another scalar here too.
    """

    dtype: np.dtype
    ndim: int
    writeable: bool = True
    own: bool = False
    tile: int = 0
    strided: bool = False
    group: bool = False


@dataclasses.dataclass(frozen=True)
class Tile:
    """Consecutive numbers of a row in registers."""

    dtype: np.dtype
    width: int


@dataclasses.dataclass(frozen=True)
class Converter:
    """A dtype as a function, such as `x.dtype.type`."""

    dtype: np.dtype


@dataclasses.dataclass(frozen=True)
class Row:
    """A function of one row as a constant, which frames of loops over rows call.

    constants: of the function; `.wide` and `.narrow` are the dtypes of sums and of vectors. returns: else its last
    line, which returns what is summed, is left out. edge: it has the number of rows as another argument, and `inside`
    is tested. expression: what it returns instead.
    """

    function: types.FunctionType
    constants: tuple[tuple[str, object], ...]
    returns: bool = True
    edge: bool = False
    expression: str = ""

    @property
    def name(self) -> str:
        """The place of the function."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def __repr__(self) -> str:
        # The same in every process: it is part of the keys of machine code.
        return f"Row({self.name}, {self.constants}, {self.returns}, {self.edge}, {self.expression!r})"


Kind = np.dtype | Literal | Array | Tile | Converter | Row | tuple["Kind", ...]


class Value(NamedTuple):
    """A kind and the scalars of an expression: an array has address and lengths, a complex number two parts."""

    kind: Kind
    parts: tuple[Node, ...]


class KernelError(InputError):
    """A text that is not in the grammar: file, line, why, and the expression. Or arguments that kernels do not take."""


def equal(a: Kind | None, b: Kind | None) -> bool:
    """True if two kinds are the same. NumPy compares a dtype with None as with float64."""
    return type(a) is type(b) and a == b if isinstance(a, np.dtype) or isinstance(b, np.dtype) else a == b


def real_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex number."""
    return np.finfo(dtype).dtype if dtype.kind == "c" else dtype


def register(dtype: np.dtype) -> Scalar:
    """The type of a scalar, or of a part of a complex number, in a register."""
    match dtype.kind:
        case "b":
            return "b"
        case "i" | "u":
            return "i"
    return "f" if real_of(dtype).itemsize == 4 else "d"


def vector_of(tile: Tile) -> Vector:
    """The register of a tile."""
    return Vector(register(tile.dtype), tile.width * (2 if tile.dtype.kind == "c" else 1))


def types_of(kind: Kind) -> tuple[Type, ...]:
    """The types of the scalars of a value."""
    match kind:
        case Array(dtype, ndim, _, own, tile, strided, group):
            lengths: tuple[Type, ...] = ("i",) * (ndim + (bool(tile) or strided))
            return (Pointer(real_of(dtype).str[1:], own, group), *lengths)
        case Tile():
            return (vector_of(kind),)
        case Converter() | Row():
            return ()
        case tuple():
            return tuple(each for part in kind for each in types_of(part))
        case np.dtype():
            return (register(kind),) * (2 if kind.kind == "c" else 1)
    return ("i",) if kind is Literal.INTEGER else ("d",)


def settled(kind: Kind) -> Kind:
    """The kind of a literal that meets nothing."""
    return INT if kind is Literal.INTEGER else DOUBLE if kind is Literal.FRACTION else kind


def names_of(name: str, kind: Kind) -> list[str]:
    """The names of the scalars of a variable."""
    if isinstance(kind, np.dtype | Literal | Tile) and len(types_of(kind)) == 1:
        return [name]
    return [f"{name}.{k}" for k in range(len(types_of(kind)))]


def in_tuple(values: list[Value]) -> Value:
    """A tuple of values."""
    return Value(tuple(each.kind for each in values), tuple(part for each in values for part in each.parts))
