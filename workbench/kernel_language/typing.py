"""Types: from those of the arrays to every expression of a kernel.

- Integers are int64, whatever an array stores.
- A literal takes the type of what it meets, as in NumPy 2: `value = 0` is float32 where float32 is added to it.
- Two real or complex types meet in the one that NumPy takes for both; real times complex keeps the real factor real.
- A variable has one type, in which all that is assigned to it meets; found by repetition until nothing changes.
- What is stored is converted to the array's type. No conversion drops an imaginary part or a fraction.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.kernel_language.expressions import WHOLE, Expressions, meet
from workbench.kernel_language.folding import Folded
from workbench.kernel_language.grammar import Kernel
from workbench.kernel_language.tree import (
    INTEGER,
    Argument,
    Assign,
    Block,
    Constant,
    Convert,
    Expression,
    For,
    If,
    Leave,
    Statement,
    Store,
    Sum,
    Type,
    Typed,
    While,
    real_of,
)


def typed(
    kernel: Kernel,
    dtypes: Mapping[str, Any],
    vector: Any,
    wide: Any,
    *,
    constants: Mapping[str, Any] | None = None,
    numbered: Mapping[str, int] | None = None,
    blocks: Mapping[str, int] | None = None,
    summed: bool = True,
) -> Typed:
    """A kernel for arguments of these dtypes.

    dtypes: of every argument that is used, by name. vector, wide: the dtypes of vectors and of sums. constants: by
    name, at least those without a default. numbered: the parameters that stand for several arguments, with their
    number. blocks: the arguments that are block vectors, with their columns, which are the same for all. summed: else
    the last line, which returns what is summed, is left out. Raises KernelError.
    """
    lines = kernel.tree.body if summed or not kernel.sums else kernel.tree.body[:-1]
    constants, numbered = kernel.constants | dict(constants or {}), numbered or {}
    columns = max((blocks or {}).values(), default=1)
    kinds = {name: Type(np.dtype(dtype), row=columns > 1 and name in (blocks or {})) for name, dtype in dtypes.items()}
    made = _Typing(kernel, kinds, np.dtype(vector), np.dtype(wide))
    fold = Folded(kernel, constants, numbered, interior=kernel.halo is not None)
    body, edge = fold.block(lines), []
    if kernel.halo is not None:
        edge = Folded(kernel, constants, numbered, interior=False).block(lines)
    body, edge = made.blocks(body, edge)
    halo = None if kernel.halo is None else made.integer(fold.expression(kernel.halo))
    return Typed(
        name=kernel.name,
        row=kernel.row,
        arguments={name: made.argument(name) for name in kernel.arguments(numbered) if name in made.used},
        vector=np.dtype(vector),
        wide=np.dtype(wide),
        columns=columns,
        body=body,
        edge=edge,
        halo=halo,
        variables={name: kind for name, kind in made.variables.items() if name not in made.loops},
        dots=kernel.dots and summed,
        # Of block vectors the first dot product alone, for every column.
        sums=(kernel.sums if columns == 1 else 1) if summed else 0,
    )


class _Typing(Expressions):
    """The typed statements."""

    def blocks(self, *blocks: list[ast.stmt]) -> list[Block]:
        """The typed statements of the same row in several forms."""
        while True:
            before = dict(self.variables)
            made = [self._whole(lines) for lines in blocks]
            if self.variables == before:
                weak = {name: kind for name, kind in before.items() if kind.weak}
                if not weak:
                    return made
                # Nothing but literals: fractions have the precision of vectors.
                for name, kind in weak.items():
                    dtype = INTEGER if kind.is_integer else real_of(self.vector)
                    self.variables[name] = Type(dtype, kind.row)

    def argument(self, name: str) -> Argument:
        return Argument(self.kinds[name], name in self.arrays, name in self.read, name in self.written)

    def _whole(self, lines: list[ast.stmt]) -> Block:
        self.known = {self.kernel.row}
        return self._block(lines)

    def _block(self, lines: list[ast.stmt]) -> Block:
        return tuple(self._statement(line) for line in lines)

    def _statement(self, line: ast.stmt) -> Statement:
        match line:
            case ast.Assign(targets=[target], value=value):
                return self._assigned(target, self.expression(value), line)
            case ast.AugAssign(target=target, op=op, value=value):
                before = ast.Name(target.id) if isinstance(target, ast.Name) else target
                return self._assigned(target, self.expression(ast.BinOp(before, op, value)), line)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body):
                return self._for(name, args, body, line)
            case ast.While(test=test, body=body):
                before = set(self.known)
                made = While(self.test(test), self._block(body))
                self.known = before
                return made
            case ast.If(test=test, body=body, orelse=orelse):
                condition, before = self.test(test), set(self.known)
                first, after = self._block(body), self.known
                self.known = before
                made = If(condition, first, self._block(orelse))
                self.known &= after
                return made
            case ast.Return(value=ast.Tuple(elts=values)):
                return Sum(tuple(map(self._term, values)))
            case ast.Return(value=ast.expr() as value):
                return Sum((self._term(value),))
            case ast.Break():
                return Leave("break")
            case ast.Continue():
                return Leave("continue")
        self.refuse(line, "this is no statement of kernels")

    def _for(self, name: str, args: list[ast.expr], body: list[ast.stmt], line: ast.stmt) -> For:
        if name == self.kernel.row or (name in self.variables and name not in self.loops) or name in self.known:
            self.refuse(line, f"{name} is a variable already")
        bounds = [self.integer(argument) for argument in args]
        first, end = bounds[:2] if len(bounds) > 1 else (Constant(0, WHOLE), bounds[0])
        step = bounds[2] if len(bounds) > 2 else Constant(1, WHOLE)
        if isinstance(step, Constant) and step.value <= 0:
            self.refuse(line, "the step of a loop is positive")
        self.loops.add(name)
        self.variables[name] = WHOLE
        before = set(self.known)
        self.known.add(name)
        made = For(name, first, end, step, self._block(body))
        self.known = before
        return made

    def _assigned(self, target: ast.expr, value: Expression, line: ast.stmt) -> Statement:
        match target:
            case ast.Name(id=name):
                if name in self.loops or name == self.kernel.row:
                    self.refuse(line, f"{name} counts a loop, which alone may change it")
                found = meet(self.variables[name], value.type) if name in self.variables else value.type
                self.variables[name] = found
                self.known.add(name)
                return Assign(name, self.convert(value, found, line))
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                kind = self.array(name, target)
                self.written.add(name)
                return Store(name, self.integer(place), self.convert(value, kind, line))
        self.refuse(line, "a variable or an element is assigned")

    def _term(self, node: ast.expr) -> Expression:
        value, kind = self.expression(node), Type(self.wide)
        # Each column has a sum.
        return Convert(value, Type(kind.dtype, row=True)) if value.type.row else self.convert(value, kind, node)
