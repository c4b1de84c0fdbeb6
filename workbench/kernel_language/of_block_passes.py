"""Passes of block vectors as typed trees, for accelerators. A row is one value; dot products are those of columns.

Names begin with a_ for a block vector, v_ for its row, f_ for a vector, r_ for a number per column, and m_ for the
small matrix of one row that it is from.
"""

from __future__ import annotations

import numpy as np

from workbench.kernel_language import tree
from workbench.kernel_language.of_lines import ROW, WHOLE, conjugated, converted
from workbench.kernel_language.tree import Assign, Comparison, Expression, Operation, Type, Typed, Variable, real_of
from workbench.lines.block_passes import BlockPass, Products, Scaling, Update
from workbench.lines.block_terms import Term


def block_pass(work: BlockPass, columns: int, vector: np.dtype, wide: np.dtype) -> Typed:
    """The kernel `block_pass`. Arguments: the block vectors, the vectors, the matrices of one row in the precision of
    sums, and `stopped`, a real number: nothing is computed where it is not 0."""
    row, sums = Type(vector, row=True), 0
    body: list[tree.Statement] = [Assign(f"v_{name}", tree.Element(f"a_{name}", ROW, row)) for name in work.loads]
    for statement in work.statements:
        match statement:
            case Update(target=target, terms=terms):
                body.append(Assign(f"v_{target}", _sum(terms, row)))
            case Scaling(target=target, argument=argument, factor=factor):
                body.append(Assign(f"v_{target}", _scaled(Variable(f"v_{argument}", row), factor)))
            case Products(left=first, right=second, transposed=transposed):
                kind = Type(wide, row=True)
                left, right = (converted(Variable(f"v_{name}", row), kind) for name in (first, second))
                product = Operation("*", left if transposed else conjugated(left), right, kind)
                body.append(tree.Sum((product,), first=sums))
                sums += 1
    body += [tree.Store(f"a_{name}", ROW, Variable(f"v_{name}", row)) for name in work.stores]
    arguments = {f"a_{name}": tree.Argument(row, True, name in work.loads, name in work.stores) for name in work.arrays}
    arguments |= {f"f_{name}": tree.Argument(Type(vector), True, True, False) for name in work.factors}
    kind, real = Type(wide, row=True), Type(real_of(wide))
    arguments |= {f"m_{name}": tree.Argument(kind, True, True, False) for name in work.rows}
    arguments["stopped"] = tree.Argument(real, True, True, False)
    return Typed(
        name="block_pass",
        row=ROW.name,
        arguments=arguments,
        vector=vector,
        wide=wide,
        columns=columns,
        body=tuple(body),
        variables={line.name: row for line in body if isinstance(line, Assign)},
        sums=sums,
        numbers=tuple(
            Assign(f"r_{name}", converted(tree.Element(f"m_{name}", tree.Constant(0, WHOLE), kind), row))
            for name in work.rows
        ),
        wanted=Comparison("==", tree.Element("stopped", tree.Constant(0, WHOLE), real), tree.Constant(0, real)),
    )


def _sum(terms: tuple[Term, ...], row: Type) -> Expression:
    total: Expression = tree.Convert(tree.Constant(0, Type(row.dtype)), row)
    for k, term in enumerate(terms):
        value: Expression = Variable(f"v_{term.factor}", row)
        if term.small is not None:
            value = Operation("*", Variable(f"r_{term.small}", row), value, row)
        first = k == 0 and term.sign > 0
        total = value if first else Operation("+" if term.sign > 0 else "-", total, value, row)
    return total


def _scaled(value: Variable, factor: str | float | None) -> Expression:
    if factor is None:
        return value
    number = Type(value.type.dtype)
    scale = tree.Element(f"f_{factor}", ROW, number) if isinstance(factor, str) else tree.Constant(factor, number)
    return Operation("*", scale, value, value.type)
