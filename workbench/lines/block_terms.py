"""Formulas of block vectors as sums of terms, each a block vector times a small matrix."""

from __future__ import annotations

import dataclasses

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
