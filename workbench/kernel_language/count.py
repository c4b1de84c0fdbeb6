"""Operations of a typed kernel."""

from __future__ import annotations

from collections.abc import Callable

from workbench.kernel_language.tree import (
    Assign,
    Block,
    Expression,
    For,
    If,
    Operation,
    Statement,
    Store,
    Typed,
    While,
    expressions,
)
from workbench.lines.count import COST


def flops(of: Typed, trips: Callable[[For], float]) -> float:
    """Real operations + - * / of a row that has all its neighbours; sums over rows are not counted.

    trips: how often a loop is run, on average. A `while` loop counts once, of an `if` both branches.
    """

    def of_block(block: Block) -> float:
        return sum(map(of_statement, block))

    def of_statement(line: Statement) -> float:
        match line:
            case Assign(value=value) | Store(value=value):
                return of_expression(value)
            case For(body=body):
                return trips(line) * of_block(body)
            case While(body=body):
                return of_block(body)
            case If(body=body, otherwise=otherwise):
                return of_block(body) + of_block(otherwise)
        return 0

    def of_expression(value: Expression) -> float:
        return sum(_cost(node, of.columns) for node in expressions(value))

    return of_block(of.body)


def _cost(node: Expression, columns: int) -> int:
    if not isinstance(node, Operation) or node.type.is_integer:
        return 0
    numbers = columns if node.type.row else 1
    # A real factor of a complex number multiplies its two parts.
    if node.type.is_complex and not node.left.type.is_complex:
        return 2 * numbers
    return numbers * COST[node.sign][node.type.is_complex]
