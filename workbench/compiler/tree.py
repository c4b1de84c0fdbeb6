"""The typed tree: functions of scalar variables. Arrays, tuples and complex numbers are taken apart while it is made.

Operations of expressions (with their arguments, and `of`):

    const             of: the value                  var        of: the name
    load, place       pointer, index                 call       arguments; of: a `Function` with one result
    + - * / // %      two of one type                << >> & | ^    two integers
    neg, not          one                            < <= > >= == !=    two of one type
    and, or           the second where needed        if         test, two values, of which one is evaluated
    below             two integers, a and b >= 0: 0 <= a < b
    to                one, converted to the type     fn         arguments; of: the name of a function of math
    fma               three                          atomic     pointer, index, value; of: the name of the operation
    splat             one number                     pick       two vectors; of: places in both, one after the other
    head              a vector, a count: zeros from this entry on
    room              of: the name of a variable of the type `Room`, whose address this is
    device            arguments; of: the name of a macro of accelerators (see `c`)
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Scalar = Literal["i", "b", "f", "d"]
"""An integer of 64 bits, a truth, a number of single or of double precision, in a register."""


class Vector(NamedTuple):
    """Numbers in one register, or in several."""

    of: Scalar
    width: int


class Pointer(NamedTuple):
    """An address. memory: NumPy's name of a dtype, such as u4; own: of memory that belongs to one thread; group: to the
    work-items of a group."""

    memory: str
    own: bool = False
    group: bool = False


class Room(NamedTuple):
    """Memory of a thread for a count of numbers, or of a group of work-items; the type of variables only."""

    memory: str
    numbers: int | Node
    group: bool = False


Type = Scalar | Vector | Pointer | Room
POSITIVE = "positive"
"""`of` a quotient of integers, or its remainder, that are not negative, and the divisor not 0."""


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """An expression."""

    op: str
    type: Type
    args: tuple[Node, ...] = ()
    of: object = None


@dataclasses.dataclass(frozen=True)
class Statement:
    """Base class of statements."""


Block = tuple[Statement, ...]


@dataclasses.dataclass(frozen=True)
class Set(Statement):
    """name = value."""

    name: str
    value: Node


@dataclasses.dataclass(frozen=True)
class Store(Statement):
    """pointer[index] = value."""

    pointer: Node
    index: Node
    value: Node


@dataclasses.dataclass(frozen=True)
class Do(Statement):
    """A call for what it does. names: of its results; none where the call is an operation."""

    call: Node
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class If(Statement):
    """Two blocks, of which one runs."""

    test: Node
    body: Block
    otherwise: Block = ()


@dataclasses.dataclass(frozen=True)
class While(Statement):
    """before: what the test needs, run again before each test."""

    before: Block
    test: Node
    body: Block


@dataclasses.dataclass(frozen=True)
class For(Statement):
    """A loop from `first` to before `end`. Its counter is no variable of the body, which may assign to the name.

    step: a constant, or a number above 0.
    """

    name: str
    first: Node
    end: Node
    step: Node
    body: Block


@dataclasses.dataclass(frozen=True)
class Shared(Statement):
    """The chunks that a thread works on: those of its share, then those that other threads have not begun.

    counters: the array that counts the chunks begun of each thread's share: address, rows, row length; the first word
    of a row counts.
    """

    name: str
    counters: tuple[Node, Node, Node]
    thread: Node
    count: Node
    body: Block


@dataclasses.dataclass(frozen=True)
class Jump(Statement):
    """`break` or `continue`."""

    word: str


@dataclasses.dataclass(frozen=True)
class Return(Statement):
    """The end of a function."""

    values: tuple[Node, ...] = ()


@dataclasses.dataclass(frozen=True)
class Phases:
    """A kernel: what runs once before, on each thread before its loop, in the loop over threads, and once after.

    thread: the name of the index in the loop, empty without one.
    """

    first: Block
    each: Block
    thread: str
    loop: Block
    after: Block


@dataclasses.dataclass(eq=False)
class Function:
    """Names with types of parameters and variables, types of results; licences: of LLVM for its arithmetic, sorted.

    body: of a helper; a kernel has `Phases` in its place.
    """

    name: str
    licences: tuple[str, ...]
    parameters: dict[str, Type] = dataclasses.field(default_factory=dict)
    results: tuple[Type, ...] = ()
    variables: dict[str, Type] = dataclasses.field(default_factory=dict)
    body: Block = ()

    @functools.cached_property
    def changes_memory(self) -> bool:
        """True if a call may change memory that is loaded after it; read once the function has its body."""
        return changes_memory(self.body)

    @functools.cached_property
    def parameters_read(self) -> tuple[bool, ...]:
        """True for each parameter that the body needs; read once the function has its body."""
        read = names_read(self.body)
        return tuple(name in read for name in self.parameters)

    @functools.cached_property
    def local_bytes(self) -> int:
        """The memory of a thread's own arrays that a call needs."""
        return local_bytes(self, self.body)


def nodes(of: Node) -> Iterator[Node]:
    """An expression and all within it."""
    yield of
    for each in of.args:
        yield from nodes(each)


def statements_in(line: Statement) -> Iterator[Statement]:
    """A statement and all within it."""
    yield line
    blocks = (block for block in vars(line).values() if isinstance(block, tuple))
    for each in (each for block in blocks for each in block if isinstance(each, Statement)):
        yield from statements_in(each)


def expressions_in(block: Iterable[Statement]) -> Iterator[Node]:
    """The expressions of statements and of all within them, and what is within those."""
    parts = (part for line in block for each in statements_in(line) for part in vars(each).values())
    flat = (one for part in parts for one in (part if isinstance(part, tuple) else (part,)))
    return (node for one in flat if isinstance(one, Node) for node in nodes(one))


def changes_memory(block: Iterable[Statement]) -> bool:
    """True if what is loaded may be another number after these statements: they store, perhaps in a helper."""
    every = list(expressions_in(block))
    stores = any(isinstance(each, Store | Shared) for line in block for each in statements_in(line))
    stores = stores or any(node.op in ("atomic", "put pair") for node in every)
    return stores or any(node.of.changes_memory for node in every if isinstance(node.of, Function))


def local_bytes(function: Function, block: Block) -> int:
    """The memory of a thread's own arrays: each call in the text has its own, since helpers become part of callers."""
    rooms = (t for t in function.variables.values() if isinstance(t, Room))
    own = sum(room.numbers * int(room.memory[1:]) for room in rooms if isinstance(room.numbers, int))
    return own + sum(node.of.local_bytes for node in expressions_in(block) if isinstance(node.of, Function))


def loads(parts: tuple[Node, ...]) -> bool:
    """True if expressions read memory."""
    return any(node.op == "load" for part in parts for node in nodes(part))


def expressions_of(line: Statement) -> Iterator[Node]:
    """The expressions of a statement, without those of statements within it."""
    for part in vars(line).values():
        yield from (each for each in (part if isinstance(part, tuple) else (part,)) if isinstance(each, Node))


def names_read(block: Block) -> set[str]:
    """The variables whose values statements need for what they do, be it to set others that are needed."""
    found, setting = set[str](), dict[str, set[str]]()
    for line in (each for statement in block for each in statements_in(statement)):
        names = {name for each in expressions_of(line) for name in _names_in(each)}
        if isinstance(line, Set) and line.value.op not in ("call", "atomic"):
            setting.setdefault(line.name, set()).update(names)
        else:
            found |= names
    coming = list(found)
    while coming:
        more = setting.pop(coming.pop(), set()) - found
        found |= more
        coming += more
    return found


def _names_in(node: Node) -> Iterator[str]:
    if node.op in ("var", "room"):
        yield str(node.of)
    wanted = node.of.parameters_read if isinstance(node.of, Function) else (True,) * len(node.args)
    for each in (each for each, needed in zip(node.args, wanted, strict=True) if needed):
        yield from _names_in(each)


def integer(value: int) -> Node:
    """A constant."""
    return Node("const", "i", (), value)


ZERO, ONE = integer(0), integer(1)


def plus(a: Node, b: Node) -> Node:
    """a + b of integers; terms that do nothing are left out."""
    if a.op == b.op == "const":
        return integer(_whole(a) + _whole(b))
    return b if a == ZERO else a if b == ZERO else Node("+", "i", (a, b))


def minus(a: Node, b: Node) -> Node:
    """a - b of integers."""
    if a.op == b.op == "const":
        return integer(_whole(a) - _whole(b))
    return a if b == ZERO else Node("-", "i", (a, b))


def times(a: Node, b: Node) -> Node:
    """a*b of integers."""
    if a.op == b.op == "const":
        return integer(_whole(a) * _whole(b))
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Node("*", "i", (a, b))


def _whole(node: Node) -> int:
    assert isinstance(node.of, int)
    return node.of
