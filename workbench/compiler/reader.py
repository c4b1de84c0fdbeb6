"""The state of reading a function: kinds of variables, which only widen, and statements."""

from __future__ import annotations

import abc
import ast
import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import NoReturn

from workbench.compiler.kinds import (
    Array,
    Converter,
    KernelError,
    Kind,
    Literal,
    Tile,
    Value,
    equal,
    names_of,
    types_of,
)
from workbench.compiler.source import Source
from workbench.compiler.tree import Block, Function, Node, Set, Statement, Type, nodes


class Reader(abc.ABC):
    """Base class of what reads one function for the kinds of its arguments.

    given: kinds of parameters. constants: names that mean a number now, as in a loop that is unrolled.
    """

    def __init__(self, source: Source, kinds: tuple[Kind, ...], made: Function) -> None:
        self.source, self.made = source, made
        arguments = source.tree.args
        if arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.defaults:
            self.refuse(source.tree, "parameters other than plain names")
        if len(arguments.args) != len(kinds):
            self.refuse(source.tree, f"{len(kinds)} arguments for {len(arguments.args)} parameters")
        self.given = {argument.arg: kind for argument, kind in zip(arguments.args, kinds, strict=True)}
        self.kinds: dict[str, Kind] = {}
        self.constants: dict[str, object] = {}
        self.temporaries: dict[str, Type] = {}
        self._out: list[Statement] = []
        self._changed, self._count = False, 0

    @abc.abstractmethod
    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abc.abstractmethod
    def called(self, function: Callable[..., object], values: list[Value]) -> Value:
        """The result of a helper."""

    @abc.abstractmethod
    def united(self, a: Kind, b: Kind) -> Kind:
        """The kind of a variable to which values of both are assigned."""

    @abc.abstractmethod
    def converted(self, value: Value, kind: Kind) -> Value:
        """The value as one of another kind."""

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Raise KernelError: why this part of the text is not in the grammar."""
        line = getattr(node, "lineno", self.source.tree.lineno)
        raise KernelError(f"{self.source.file}:{line}: {why}: {ast.unparse(node).splitlines()[0]}")

    def settled(self, read: Callable[[], None]) -> None:
        """Read until no variable gets another kind."""
        while True:
            self._changed, self._count, self.constants, self.temporaries = False, 0, {}, {}
            read()
            if not self._changed:
                return

    def declare(self) -> None:
        """Tell the function its parameters and variables."""
        for name, kind in self.given.items():
            self.made.parameters |= dict(zip(names_of(name, kind), types_of(kind), strict=True))
        for name, kind in self.kinds.items():
            self.made.variables |= dict(zip(names_of(name, kind), types_of(kind), strict=True))
        self.made.variables |= self.temporaries
        for name in self.made.parameters:
            self.made.variables.pop(name, None)

    # Variables.

    def kind_of(self, name: str) -> Kind | None:
        """The kind of a variable; None where there is none."""
        return self.kinds[name] if name in self.kinds else self.given.get(name)

    def variable(self, name: str, kind: Kind) -> Value:
        """The value of a variable."""
        return Value(
            kind, tuple(Node("var", t, (), n) for n, t in zip(names_of(name, kind), types_of(kind), strict=True))
        )

    def declare_name(self, name: str, kind: Kind, node: ast.AST) -> Kind:
        """Let a variable have values of this kind too; the kind that it has then."""
        known = self.kind_of(name)
        if known is not None:
            kind = self.united(known, kind)
        if name in self.given and not equal(kind, self.given[name]):
            self.refuse(node, f"the argument {name} would become {named(kind)}")
        if name not in self.kinds or not equal(kind, self.kinds[name]):
            self._changed |= known is not None and not equal(kind, known)
            self.kinds[name] = kind
        return kind

    def assign_name(self, name: str, value: Value, node: ast.AST) -> None:
        """Set a variable."""
        kind = self.declare_name(name, value.kind, node)
        names, parts = names_of(name, kind), self.converted(value, kind).parts
        # No part is read after another one has been set on which it depends.
        if len(parts) > 1:
            parts = self.unaffected(Value(kind, parts), {name}).parts
        for n, part in zip(names, parts, strict=True):
            self.write(Set(n, part))

    # What is written.

    def write(self, *lines: Statement) -> None:
        """Write statements."""
        self._out += lines

    @contextlib.contextmanager
    def aside(self) -> Iterator[list[Statement]]:
        """A list of the statements that are written in this context."""
        outside, self._out = self._out, []
        try:
            yield self._out
        finally:
            self._out = outside

    def new_variable(self, t: Type) -> Node:
        """A variable that the text does not have."""
        self._count += 1
        # No name in the text begins with a point.
        name = f".{self._count}"
        self.temporaries[name] = t
        return Node("var", t, (), name)

    def set(self, variable: Node, value: Node) -> Set:
        """The statement that sets a new variable."""
        assert isinstance(variable.of, str)
        return Set(variable.of, value)

    def copied(self, node: Node) -> Node:
        """A new variable with a value."""
        variable = self.new_variable(node.type)
        self.write(self.set(variable, node))
        return variable

    def temporary(self, node: Node) -> Node:
        """A variable with a value, so that it is evaluated once; constants and variables stay as they are."""
        return node if node.op in ("var", "const") else self.copied(node)

    def kept(self, value: Value) -> Value:
        """A value whose parts are evaluated once."""
        return Value(value.kind, tuple(map(self.temporary, value.parts)))

    def unaffected(self, value: Value, names: Collection[str]) -> Value:
        """The value from before these variables are set."""

        def late(node: Node) -> bool:
            return node.op == "var" and str(node.of).partition(".")[0] in names

        if not any(late(node) for part in value.parts for node in nodes(part)):
            return value
        return Value(value.kind, tuple(part if part.op == "const" else self.copied(part) for part in value.parts))

    def branches(
        self, test: Node, sides: list[tuple[list[Statement], tuple[Node, ...]]]
    ) -> tuple[Block, Block, list[Node]]:
        """Two blocks that set new variables to the values of either side, and these variables."""
        variables = [self.new_variable(part.type) for part in sides[0][1]]
        blocks = [
            (*before, *(self.set(variable, part) for variable, part in zip(variables, parts, strict=True)))
            for before, parts in sides
        ]
        return blocks[0], blocks[1], variables


def named(kind: Kind) -> str:
    """A kind in the words of who writes a kernel."""
    match kind:
        case Literal():
            return kind.value
        case Tile(dtype, width):
            return f"a tile of {width} {dtype}"
        case Converter(dtype):
            return f"the type {dtype}"
        case tuple():
            return f"a tuple of {len(kind)}"
        case Array():
            return f"an array of {kind.dtype} with {kind.ndim} dimension{'s' * (kind.ndim != 1)}"
    return f"a number {kind}"
