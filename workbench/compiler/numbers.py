"""Numbers: their kinds together, conversions, arithmetic and comparisons.

Functions of complex numbers are helpers of their real and imaginary parts. They have no licences of LLVM, whoever calls
them: in another order sums and products of theirs overflow.
"""

from __future__ import annotations

import abc
import ast
import operator
from math import copysign, sqrt

import numpy as np

from workbench.compiler.constants import Constant
from workbench.compiler.kinds import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    Array,
    Converter,
    Kind,
    Literal,
    Row,
    Tile,
    Value,
    equal,
    in_tuple,
    real_of,
    register,
    settled,
    types_of,
)
from workbench.compiler.reader import Reader, named
from workbench.compiler.source import helper
from workbench.compiler.tree import Node, Scalar, Type, integer, minus, plus, times


@helper()
def complex_quotient(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """(a + b i)/(c + d i), scaled so that no square overflows, as NumPy divides (Smith, 1962)."""
    if abs(c) >= abs(d):
        if c == 0 and d == 0:
            return a / abs(c), b / abs(c)
        ratio = d / c
        scale = 1 / (c + d * ratio)
        return (a + b * ratio) * scale, (b - a * ratio) * scale
    ratio = c / d
    scale = 1 / (d + c * ratio)
    return (a * ratio + b) * scale, (b * ratio - a) * scale


@helper()
def complex_modulus(a: float, b: float) -> float:
    """|a + b i|; no square overflows or becomes 0."""
    large, small = abs(a), abs(b)
    if small > large:
        large, small = small, large
    ratio = 1 if small == large else small / large
    return large * sqrt(1 + ratio * ratio)


@helper()
def complex_root(a: float, b: float) -> tuple[float, float]:
    """The square root of a + b i whose real part is not negative."""
    root = sqrt(abs(a) / 2 + complex_modulus(a, b) / 2)
    if root == 0:
        return root, b
    other = b / (2 * root)
    if a >= 0:
        return root, other
    return abs(other), copysign(root, b)


SIGNS: dict[type[ast.operator], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"},
    **{ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
}
TESTS: dict[type[ast.cmpop], str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
}
OF_CONSTANTS = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv},
    **{"%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_},
    **{"^": operator.xor, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    **{"==": operator.eq, "!=": operator.ne},
}
OF_INTEGERS = "//", "%", "<<", ">>", "&", "|", "^"
SIMPLER = {"+": plus, "-": minus, "*": times}


class Numbers(Reader):
    """Numbers in the text of a function."""

    @property
    def of_rows(self) -> bool:
        """True for a function of rows, whose literals take the precision of vectors."""
        return any(name == ".wide" for name, _ in self.source.constants)

    @abc.abstractmethod
    def sum_of_tiles(self, total: Value, left: Value, right: Value, node: ast.AST) -> Value:
        """total + left*right, left a number or a tile."""

    def literal(self, value: object, node: ast.AST) -> Value:
        """A constant of the text, or of its module."""
        match value:
            case bool():
                return Value(BOOL, (Node("const", "b", (), value),))
            case int() | np.integer():
                return Value(Literal.INTEGER, (integer(int(value)),))
            case float() | np.floating():
                kind = Literal.FRACTION if self.of_rows else DOUBLE
                return Value(kind, (Node("const", "d", (), float(value)),))
            case complex() | np.complexfloating():
                parts = (Node("const", "d", (), float(part)) for part in (value.real, value.imag))
                return Value(np.dtype(complex), tuple(parts))
            case tuple() | range():
                return in_tuple([self.literal(each, node) for each in value])
            case type() if issubclass(value, np.number):
                return Value(Converter(np.dtype(value)), ())
            case np.dtype():
                return Value(Converter(value), ())
            case Row():
                return Value(value, ())
        self.refuse(node, "a name that is neither a variable nor a constant of its module")

    def constant(self, value: Value, node: ast.AST) -> int:
        """The integer that is known while the text is read."""
        if len(value.parts) != 1 or value.parts[0].op != "const" or not isinstance(value.parts[0].of, int):
            self.refuse(node, "not a constant integer")
        return value.parts[0].of

    def known_value(self, value: Value, node: ast.AST) -> Constant:
        """The constant that a value is."""
        match value:
            case Value(Converter(dtype), _):
                return dtype
            case Value(Row() as row, _):
                return row
            case Value(tuple(), _):
                return tuple(self.known_value(each, node) for each in self.entries(value))
            case Value(kind, (Node("const", _, _, int() | float() as number),)) if kind != FLOAT:
                return number
            case Value(kind, (Node("const", "d", _, float() as real), Node("const", _, _, float() as imag))):
                return complex(real, imag)
        self.refuse(node, f"{named(value.kind)} whose value is not known while the kernel is read")

    def integer(self, value: Value, node: ast.AST) -> Node:
        """An integer, as of a place in an array."""
        if value.kind is not Literal.INTEGER and not equal(value.kind, INT) and not equal(value.kind, BOOL):
            self.refuse(node, f"{named(value.kind)} where an integer is needed")
        return self.converted(value, INT).parts[0]

    # Kinds together.

    def united(self, a: Kind, b: Kind, node: ast.AST) -> Kind:
        """The kind of a variable to which values of both are assigned."""
        if equal(a, b):
            return a
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.united(one, other, node) for one, other in zip(a, b, strict=True))
        if isinstance(a, Literal) or isinstance(b, Literal):
            for literal, other in ((a, b), (b, a)):
                if isinstance(literal, Literal) and isinstance(other, Tile):
                    return other
                if isinstance(literal, Literal) and isinstance(other, Literal | np.dtype):
                    return _met(literal, other)
        if isinstance(a, np.dtype) and isinstance(b, np.dtype):
            return INT if a.kind in "biu" and b.kind in "biu" else np.result_type(a, b)
        more = "; a helper that is called for each has variables of its own" if isinstance(a, Tile) else ""
        self.refuse(node, f"one variable for {named(a)} and {named(b)}{more}")

    def common(self, a: Kind, b: Kind, node: ast.AST) -> np.dtype | Literal:
        """The kind in which both are added and compared."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Literal) and isinstance(other, Literal | np.dtype):
                return _met(one, other)
        if not isinstance(a, np.dtype) or not isinstance(b, np.dtype):
            self.refuse(node, f"{named(a)} and {named(b)} where numbers are needed")
        return INT if a.kind in "biu" and b.kind in "biu" else np.result_type(a, b)

    def converted(self, value: Value, kind: Kind) -> Value:
        """The value as one of another kind."""
        if equal(value.kind, kind):
            return value
        if isinstance(kind, tuple):
            parts = [self.converted(v, k).parts for v, k in zip(self.entries(value), kind, strict=True)]
            return Value(kind, tuple(part for each in parts for part in each))
        if isinstance(kind, Tile):
            return self.filled(kind, value)
        numbers = isinstance(kind, np.dtype | Literal) and isinstance(value.kind, np.dtype | Literal)
        if not numbers or len(types_of(value.kind)) > len(types_of(kind)):
            self.refuse(self.source.tree, f"{named(value.kind)} as {named(kind)}")
        wanted: tuple[Type, ...] = types_of(kind)
        parts = [self._scalar(part, t) for part, t in zip(value.parts, wanted, strict=False)]
        if len(parts) < len(wanted):
            parts.append(Node("const", wanted[1], (), 0.0))
        return Value(kind, tuple(parts))

    def entries(self, of: Value, node: ast.AST | None = None) -> list[Value]:
        """The entries of a tuple."""
        if not isinstance(of.kind, tuple):
            self.refuse(node or self.source.tree, f"entries of {named(of.kind)}")
        parts = iter(of.parts)
        return [Value(kind, tuple(next(parts) for _ in types_of(kind))) for kind in of.kind]

    def filled(self, tile: Tile, value: Value) -> Value:
        """A tile of equal numbers."""
        parts, (t,) = self.converted(value, tile.dtype).parts, types_of(tile)
        first, *second = (Node("splat", t, (part,)) for part in parts)
        if not second:
            return Value(tile, (first,))
        width = 2 * tile.width
        return Value(tile, (Node("pick", t, (first, *second), tuple(k + width * (k % 2) for k in range(width))),))

    def _scalar(self, part: Node, t: Type) -> Node:
        if part.type == t:
            return part
        if part.op == "const":
            made = {"b": bool, "i": int}.get(str(t), float)
            return Node("const", t, (), made(part.of))
        return self.truth(Value(INT, (part,))) if t == "b" else Node("to", t, (part,))

    # Arithmetic.

    def truth(self, value: Value) -> Node:
        """A truth: a number is not 0."""
        part = value.parts[0]
        if part.type == "b":
            return part
        if part.op == "const":
            return Node("const", "b", (), bool(part.of))
        return Node("!=", "b", (part, Node("const", part.type, (), 0)))

    def comparison(self, sign: str, left: Value, right: Value, node: ast.AST) -> Node:
        """A truth: a comparison of two numbers."""
        kind = BOOL if equal(left.kind, BOOL) and equal(right.kind, BOOL) else self.common(left.kind, right.kind, node)
        a, b = self.converted(left, kind).parts, self.converted(right, kind).parts
        if len(a) == 1 and a[0].op == b[0].op == "const":
            return Node("const", "b", (), OF_CONSTANTS[sign](a[0].of, b[0].of))
        tests = tuple(Node(sign, "b", pair) for pair in zip(a, b, strict=True))
        if len(tests) > 1 and sign not in ("==", "!="):
            self.refuse(node, "an order of complex numbers")
        return tests[0] if len(tests) == 1 else Node("and" if sign == "==" else "or", "b", tests)

    def negative(self, value: Value, node: ast.AST) -> Value:
        """-value."""
        if isinstance(value.kind, Array | Converter | tuple):
            self.refuse(node, f"the negative of {named(value.kind)}")
        if len(value.parts) == 1 and value.parts[0].op == "const":
            part = value.parts[0]
            return Value(value.kind, (Node("const", part.type, (), -part.of),))  # pyright: ignore[reportOperatorIssue]
        value = self.converted(value, INT) if equal(value.kind, BOOL) else value
        return Value(value.kind, tuple(Node("neg", part.type, (part,)) for part in value.parts))

    def operation(self, sign: str, left: Value, right: Value, node: ast.AST) -> Value:
        """Two numbers, or tiles of them; a tuple several times."""
        if isinstance(left.kind, Tile) or isinstance(right.kind, Tile):
            return self.of_tiles(sign, left, right, node)
        if isinstance(left.kind, tuple) and sign == "*":
            return in_tuple(self.entries(left) * self.constant(right, node))
        if isinstance(left.kind, tuple) and isinstance(right.kind, tuple) and sign == "+":
            return in_tuple([*self.entries(left), *self.entries(right)])
        if sign in ("&", "|", "^") and equal(left.kind, BOOL) and equal(right.kind, BOOL):
            return Value(BOOL, (Node(sign, "b", (left.parts[0], right.parts[0])),))
        kind = self.common(left.kind, right.kind, node)
        folded = all(len(side.parts) == 1 and side.parts[0].op == "const" for side in (left, right))
        if folded:
            return self._of_constants(sign, left.parts[0].of, right.parts[0].of, kind, node)
        kind = settled(kind)
        assert isinstance(kind, np.dtype)
        kind = DOUBLE if sign == "/" and kind == INT else kind
        if sign in OF_INTEGERS and kind != INT:
            self.refuse(node, f"{sign} of {named(kind)}")
        if kind.kind == "c":
            return self._complex(sign, left, right, kind)
        a, b = self.converted(left, kind).parts[0], self.converted(right, kind).parts[0]
        if sign in ("<<", ">>") and b.op == "const" and b.of not in range(64):
            self.refuse(node, "a shift by less than 0 or by more than 63 bits")
        simpler = SIMPLER.get(sign) if kind == INT else None
        return Value(kind, (simpler(a, b) if simpler else Node(sign, register(kind), (a, b)),))

    def of_tiles(self, sign: str, left: Value, right: Value, node: ast.AST) -> Value:
        """A tile and a number or another tile, entry by entry."""
        tile = left.kind if isinstance(left.kind, Tile) else right.kind
        assert isinstance(tile, Tile)
        if sign == "*" and tile.dtype.kind == "c":
            return self.sum_of_tiles(self.filled(tile, self.literal(0, node)), left, right, node)
        if sign not in ("+", "-", "*", "/") or (tile.dtype.kind == "c" and sign not in ("+", "-")):
            self.refuse(node, f"{sign} of {named(tile)}")
        (t,) = types_of(tile)
        sides = tuple(self.converted(each, tile).parts[0] for each in (left, right))
        return Value(tile, (Node(sign, t, sides),))

    def _of_constants(self, sign: str, a: object, b: object, kind: np.dtype | Literal, node: ast.AST) -> Value:
        try:
            found = self.literal(OF_CONSTANTS[sign](a, b), node)
        except (ArithmeticError, TypeError, ValueError) as error:
            self.refuse(node, str(error))
        of_integers = isinstance(kind, Literal) or kind == INT
        return found if isinstance(kind, Literal) or (sign == "/" and of_integers) else self.converted(found, kind)

    def _complex(self, sign: str, left: Value, right: Value, kind: np.dtype) -> Value:
        real, t = real_of(kind), register(kind)
        if sign in ("+", "-"):
            pairs = zip(self.converted(left, kind).parts, self.converted(right, kind).parts, strict=True)
            return Value(kind, tuple(Node(sign, t, pair) for pair in pairs))
        if sign == "*" and not (is_complex(left) and is_complex(right)):
            number, other = (right, left) if is_complex(left) else (left, right)
            factor = self.temporary(self.converted(number, real).parts[0])
            return Value(kind, tuple(Node("*", t, (factor, part)) for part in self.converted(other, kind).parts))
        if sign == "*":
            sides = (self.kept(self.converted(each, kind)) for each in (left, right))
            return Value(kind, complex_product(*(part for side in sides for part in side.parts), t=t))
        if not is_complex(right):
            divisor = self.temporary(self.converted(right, real).parts[0])
            return Value(kind, tuple(Node("/", t, (part, divisor)) for part in self.converted(left, kind).parts))
        parts = (*self.converted(left, kind).parts, *self.converted(right, kind).parts)
        found = self.called(complex_quotient, [Value(real, (part,)) for part in parts])
        return Value(kind, found.parts)


def _met(literal: Literal, other: np.dtype | Literal) -> np.dtype | Literal:
    """The kind of a literal that meets another number."""
    if isinstance(other, Literal):
        return Literal.FRACTION if Literal.FRACTION in (literal, other) else other
    if literal is Literal.INTEGER:
        return INT if other == BOOL else other
    return other if other.kind in "fc" else DOUBLE


def is_complex(value: Value) -> bool:
    """True for a complex number."""
    return isinstance(value.kind, np.dtype) and value.kind.kind == "c"


def complex_product(a: Node, b: Node, c: Node, d: Node, *, t: Scalar) -> tuple[Node, Node]:
    """The parts of (a + b i)(c + d i)."""

    def times_(x: Node, y: Node) -> Node:
        return Node("*", t, (x, y))

    return Node("-", t, (times_(a, c), times_(b, d))), Node("+", t, (times_(a, d), times_(b, c)))
