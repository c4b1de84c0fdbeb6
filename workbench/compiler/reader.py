"""The state of reading a function: kinds of variables, which only widen, and statements.

A variable has one kind. Tuples may grow: those of each length are variables of their own, and which one a name means is
known at each place of the text, since no branch and no body of a loop changes the length of a tuple from outside.
"""

from __future__ import annotations

import abc
import ast
import contextlib
from collections.abc import Callable, Collection, Generator, Iterator
from typing import NoReturn

from workbench.compiler.constants import Named
from workbench.compiler.kinds import (
    Array,
    Converter,
    KernelError,
    Kind,
    Literal,
    Row,
    Tile,
    Value,
    equal,
    names_of,
    types_of,
)
from workbench.compiler.paths import Paths
from workbench.compiler.source import Source
from workbench.compiler.tree import Block, Function, Node, Set, Statement, Type, changes_memory, loads, nodes


class Reader(abc.ABC):
    """Base class of what reads one function for the kinds of its arguments.

    given: kinds of parameters. constants: names whose values are known, for the whole text or in a loop that is
    unrolled.
    """

    def __init__(self, source: Source, kinds: tuple[Kind, ...], made: Function) -> None:
        self.source, self.made = source, made
        arguments = source.tree.args
        if arguments.vararg or arguments.kwarg or arguments.defaults or any(arguments.kw_defaults):
            self.refuse(source.tree, "parameters other than plain names")
        self._check_constants({argument.arg for argument in arguments.kwonlyargs})
        if len(arguments.args) != len(kinds):
            self.refuse(source.tree, f"{len(kinds)} arguments for {len(arguments.args)} parameters")
        self.given = {argument.arg: kind for argument, kind in zip(arguments.args, kinds, strict=True)}
        own = (
            node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self.own_names = frozenset((*self.given, *(argument.arg for argument in arguments.kwonlyargs), *own))
        """Parameters and what the text assigns: as in Python these names mean nothing else anywhere in it."""
        self.shared_names = frozenset(_shared(source.tree))
        self.paths = Paths(frozenset())
        self.kinds: dict[str, Kind] = {}
        self.constants: dict[str, Value] = {}
        self.temporaries: dict[str, Type] = {}
        self._lengths: dict[str, int] = {}
        """Lengths of tuples that are variables, at this place of the text."""
        self._outer: Collection[str] = ()
        self._grown: set[str] = set()
        self._out: list[Statement] = []
        self._changed, self._count = False, 0

    @abc.abstractmethod
    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abc.abstractmethod
    def literal(self, value: object, node: ast.AST) -> Value:
        """The value of a constant."""

    @abc.abstractmethod
    def called(self, function: Callable[..., object] | Row, values: list[Value], constants: Named = ()) -> Value:
        """The result of a helper."""

    @abc.abstractmethod
    def united(self, a: Kind, b: Kind, node: ast.AST) -> Kind:
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
            self._changed, self._count, self.temporaries, self._lengths = False, 0, {}, {}
            self.paths = Paths(frozenset(self.given))
            self.constants = {name: self.literal(value, self.source.tree) for name, value in self.source.constants}
            read()
            if not self._changed:
                return

    def declare(self) -> None:
        """Set the parameters and variables of the function."""
        for name, kind in self.given.items():
            self.made.parameters |= dict(zip(names_of(name, kind), types_of(kind), strict=True))
        for name, kind in self.kinds.items():
            self.made.variables |= dict(zip(names_of(name, kind), types_of(kind), strict=True))
        self.made.variables |= self.temporaries
        for name in self.made.parameters:
            self.made.variables.pop(name, None)

    # Variables.

    def check_set(self, name: str, node: ast.AST) -> None:
        """Refuse to read a name that may have no value."""
        if name in self.own_names and name not in self.constants and not self.paths.has(name):
            self.refuse(node, f"{name} is read where it is not set on every path; set it before")

    def kind_of(self, name: str) -> Kind | None:
        """The kind of a variable; None for an unknown one."""
        key = self._key(name)
        return self.kinds[key] if key in self.kinds else self.given.get(name)

    def variable(self, name: str, kind: Kind) -> Value:
        """The value of a variable."""
        names = names_of(self._key(name), kind)
        return Value(kind, tuple(Node("var", t, (), n) for n, t in zip(names, types_of(kind), strict=True)))

    def declare_name(self, name: str, kind: Kind, node: ast.AST) -> Kind:
        """Let a variable have values of this kind too, from here on; the kind that it has then."""
        self.paths.add(name)
        if name in self.constants:
            self.refuse(node, f"the constant {name} would become a variable")
        if isinstance(kind, tuple) and name not in self.given and name not in self.kinds:
            self._declare_length(name, len(kind), node)
        known = self.kind_of(name)
        if known is not None:
            kind = self.united(known, kind, node)
        if name in self.given and not equal(kind, self.given[name]):
            self.refuse(node, f"the argument {name} would become {named(kind)}")
        key = self._key(name)
        if key not in self.kinds or not equal(kind, self.kinds[key]):
            self._changed |= known is not None and not equal(kind, known)
            self.kinds[key] = kind
        return kind

    def assign_name(self, name: str, value: Value, node: ast.AST) -> None:
        """Set a variable."""
        # A tuple of another length is another variable, so this one is still read as it was.
        kind = self.declare_name(name, value.kind, node)
        names, parts = names_of(self._key(name), kind), self.converted(value, kind).parts
        # No part is read after another one has been set on which it depends.
        if len(parts) > 1:
            parts = self.unaffected(Value(kind, parts), {name}).parts
        for n, part in zip(names, parts, strict=True):
            self.write(Set(n, part))

    def assign_entry(self, name: str, place: int, value: Value, node: ast.AST) -> None:
        """Set one entry of a variable that is a tuple."""
        self.check_set(name, node)
        if name in self.given or name in self.shared_names:
            self.refuse(node, "an entry of a list that may have another name is set, and would change there as well")
        known = self.kind_of(name)
        assert isinstance(known, tuple)
        if place not in range(-len(known), len(known)):
            self.refuse(node, f"entry {place} of a tuple of {len(known)}")
        place %= len(known)
        kind = self.declare_name(name, (*known[:place], value.kind, *known[place + 1 :]), node)
        assert isinstance(kind, tuple)
        first = len(types_of(kind[:place]))
        names, parts = names_of(self._key(name), kind)[first:], self.converted(value, kind[place]).parts
        for n, part in zip(names, self.unaffected(Value(kind[place], parts), {name}).parts, strict=False):
            self.write(Set(n, part))

    @contextlib.contextmanager
    def conditional_part(self) -> Generator[None]:
        """A part of the text that may not run at all, or run again."""
        outside, self._outer, self._grown = (self._outer, self._grown), frozenset(self._lengths), set()
        yield
        # Where such a part has been left halfway, the length is not known.
        for name in self._grown:
            del self._lengths[name]
        self._outer, self._grown = outside

    def _declare_length(self, name: str, length: int, node: ast.AST) -> None:
        before = self._lengths.get(name, length)
        if before != length:
            if name in self._outer:
                self.refuse(
                    node, f"a tuple of {before} becomes one of {length} in a branch or in a loop that is not unrolled"
                )
            self._grown.add(name)
        self._lengths[name] = length

    def _key(self, name: str) -> str:
        return f"{name}.of{self._lengths[name]}" if name in self._lengths else name

    def _check_constants(self, wanted: set[str]) -> None:
        given = {name for name, _ in self.source.constants if not name.startswith(".")}
        if wanted - given:
            self.refuse(self.source.tree, f"no value of {', '.join(sorted(wanted - given))}, a constant")
        if given - wanted:
            self.refuse(self.source.tree, f"{', '.join(sorted(given - wanted))} is no constant of this function")

    # What is written.

    def write(self, *lines: Statement) -> None:
        """Write statements."""
        self._out += lines

    @contextlib.contextmanager
    def aside(self) -> Generator[list[Statement]]:
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
        return node if node.op in ("var", "const", "room") else self.copied(node)

    def kept(self, value: Value) -> Value:
        """A value whose parts are evaluated once."""
        return Value(value.kind, tuple(map(self.temporary, value.parts)))

    def read(self, value: Value) -> Value:
        """The value from before what is stored later."""
        return self.kept(value) if loads(value.parts) else value

    def read_before(self, place: int, values: list[Value]) -> list[Value]:
        """Values that are read before the statements that have been written since a place, if these change memory."""
        if not self.stored_since(place):
            return values
        with self.aside() as early:
            values = list(map(self.read, values))
        self._out[place:place] = early
        return values

    @property
    def place(self) -> int:
        """The place of the next statement."""
        return len(self._out)

    def stored_since(self, place: int) -> bool:
        """True if statements that have been written since a place change memory."""
        return changes_memory(self._out[place:])

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


def _shared(tree: ast.FunctionDef) -> Iterator[str]:
    """Names that stand alone on either side of an assignment: both may be one list."""
    for line in (node for node in ast.walk(tree) if isinstance(node, ast.Assign)):
        # Several names get the entries of one.
        alone = [line.value] if isinstance(line.value, ast.Tuple) or isinstance(line.targets[0], ast.Name) else []
        for each in alone:
            alone += each.elts if isinstance(each, ast.Tuple | ast.List) else []
            alone += [each.body, each.orelse] if isinstance(each, ast.IfExp) else []
        names = [each.id for each in alone if isinstance(each, ast.Name)]
        if names:
            yield from names
            parts = (node for target in line.targets for node in ast.walk(target) if isinstance(node, ast.Name))
            yield from (node.id for node in parts if isinstance(node.ctx, ast.Store))


def named(kind: Kind) -> str:
    """A kind in the words of who writes a kernel."""
    match kind:
        case Literal():
            return kind.value
        case Tile(dtype, width):
            return f"a tile of {width} {dtype}"
        case Converter(dtype):
            return f"the type {dtype}"
        case Row():
            return f"the function {kind.name}"
        case tuple():
            return f"a tuple of {len(kind)}"
        case Array():
            first = "a local array" if kind.own else "an array"
            return f"{first} of {kind.dtype} with {kind.ndim} dimension{'s' * (kind.ndim != 1)}"
    return f"a number {kind}"
