"""Lines of block vectors that act on every column alone, as one pass over memory."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from workbench.lines.types import Binary, Expression, Formula, Kind, LinesError, Name, Negation, Shapes


@dataclasses.dataclass(frozen=True)
class Term:
    """sign * factor @ small; the small matrix is the identity for None, and scales columns where it is a row."""

    sign: int
    factor: str
    small: str | None = None


def terms_of(line: Formula, shapes: Shapes) -> tuple[Term, ...]:
    """The terms of a formula such as X + P@alpha - S. Raises LinesError for a formula of another form."""

    def collect(node: Expression, sign: int) -> list[Term]:
        match node:
            case Name(name=name) if shapes[name].kind is Kind.BLOCK:
                return [Term(sign, name)]
            case Negation():
                return collect(node.operand, -sign)
            case Binary(sign="+"):
                return [*collect(node.left, sign), *collect(node.right, sign)]
            case Binary(sign="-"):
                return [*collect(node.left, sign), *collect(node.right, -sign)]
            case Binary(sign="@" | "*", left=Name(name=left), right=Name(name=right)):
                first, second = (left, right) if shapes[left].kind is Kind.BLOCK else (right, left)
                if shapes[first].kind is Kind.BLOCK and shapes[second].kind is Kind.SMALL:
                    return [Term(sign, first, second)]
        raise LinesError(
            f"line {line.text!r} is no sum of block vectors times small matrices; write it as X + P@alpha", line.place
        )

    return tuple(collect(line.expression, 1))


_SCALED = re.compile(r"(?:(?P<factor>[^*]+)\*)?v")


@dataclasses.dataclass(frozen=True)
class Update:
    """target = a sum of block vectors, each times a number per column or 1."""

    target: str
    terms: tuple[Term, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(term.factor for term in self.terms)


@dataclasses.dataclass(frozen=True)
class Scaling:
    """target = factor*argument. factor: the name of a vector (N,), a number, or None for 1."""

    target: str
    argument: str
    factor: str | float | None

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.argument,)


@dataclasses.dataclass(frozen=True)
class Products:
    """target = the dot products of corresponding columns; transposed: without conjugation."""

    target: str
    left: str
    right: str
    transposed: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        return self.left, self.right


Statement = Update | Scaling | Products


@dataclasses.dataclass(frozen=True)
class BlockPass:
    """Statements that are executed row by row, in order. dropped: what is set here and read nowhere else."""

    statements: tuple[Statement, ...]
    dropped: frozenset[str] = frozenset()

    @property
    def loads(self) -> tuple[str, ...]:
        """The block vectors that are read before they are set."""
        made: set[str] = set()
        found: dict[str, None] = {}
        for statement in self.statements:
            found |= dict.fromkeys(name for name in statement.reads if name not in made)
            if not isinstance(statement, Products):
                made.add(statement.target)
        return tuple(found)

    @property
    def stores(self) -> tuple[str, ...]:
        """The block vectors that are set, and kept."""
        made = dict.fromkeys(one.target for one in self.statements if not isinstance(one, Products))
        return tuple(name for name in made if name not in self.dropped)

    @property
    def arrays(self) -> tuple[str, ...]:
        """All of both."""
        return tuple(dict.fromkeys((*self.loads, *self.stores)))

    @property
    def rows(self) -> tuple[str, ...]:
        """The small matrices of one row that are read."""
        terms = [term for one in self.statements if isinstance(one, Update) for term in one.terms]
        return tuple(dict.fromkeys(term.small for term in terms if term.small is not None))

    @property
    def factors(self) -> tuple[str, ...]:
        """The vectors (N,) that are read."""
        scalings = [one.factor for one in self.statements if isinstance(one, Scaling)]
        return tuple(dict.fromkeys(factor for factor in scalings if isinstance(factor, str)))

    @property
    def products(self) -> tuple[Products, ...]:
        return tuple(one for one in self.statements if isinstance(one, Products))


def scaling(target: str, argument: str, formula: str, names: Iterable[str]) -> Scaling | None:
    """An element-wise operator as a statement; None for a formula of another form than factor*v."""
    found = _SCALED.fullmatch(formula.replace(" ", ""))
    if found is None:
        return None
    factor = found["factor"]
    if factor is None or factor in set(names):
        return Scaling(target, argument, factor)
    try:
        return Scaling(target, argument, float(factor))
    except ValueError:
        return None
