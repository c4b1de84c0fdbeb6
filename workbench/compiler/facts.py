"""Facts about a function: its accesses to arguments, and its operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from workbench.compiler.tree import (
    Block,
    Do,
    For,
    Function,
    If,
    Node,
    Pointer,
    Return,
    Set,
    Statement,
    Store,
    Vector,
    While,
    expressions_of,
    names_read,
    nodes,
    statements_in,
)

ARITHMETIC = "+", "-", "*", "/"


class Access(NamedTuple):
    """The use of an argument, an array or a number, by a function: read, written, or both."""

    read: bool = False
    written: bool = False


def accesses(of: Function) -> dict[str, Access]:
    """The use of the parameters of a function, by name."""
    lines = [each for line in of.body for each in statements_in(line)]
    roots = _roots(of, lines)
    read, written, numbers = set[str](), set[str](), names_read(of.body)
    for line in lines:
        if isinstance(line, Store):
            written |= _named(line.pointer, roots)
        for node in (node for each in expressions_of(line) for node in nodes(each)):
            if node.op == "load":
                read |= _named(node.args[0], roots)
            elif node.op == "call" and isinstance(node.of, Function):
                for given, access in zip(node.args, accesses(node.of).values(), strict=True):
                    found = _named(given, roots)
                    read |= found if access.read else set()
                    written |= found if access.written else set()
    pointers = {name for name, t in of.parameters.items() if isinstance(t, Pointer)}
    return {
        name: Access(name in read, name in written) if name in pointers else Access(name in numbers)
        for name in of.parameters
    }


def flops(of: Function, trips: Callable[[For], float]) -> float:
    """Real operations + - * / of a call. trips: how often a loop runs, on average.

    A `while` loop counts once, of an `if` both branches; what is returned is not counted.
    """

    def of_block(block: Block) -> float:
        return sum(map(of_statement, block))

    def of_statement(line: Statement) -> float:
        match line:
            case For(body=body):
                return trips(line) * of_block(body)
            case While(before=before, body=body):
                return of_block(before) + of_block(body)
            case If(body=body, otherwise=otherwise):
                return of_block(body) + of_block(otherwise)
            case Return():
                return 0
        return sum(of_node(node) for each in expressions_of(line) for node in nodes(each))

    def of_node(node: Node) -> float:
        if node.op == "call" and isinstance(node.of, Function):
            return flops(node.of, trips)
        numbers = node.type.width if isinstance(node.type, Vector) else 1
        t = node.type.of if isinstance(node.type, Vector) else node.type
        return numbers * (node.op in ARITHMETIC) if t in ("f", "d") else 0

    return of_block(of.body)


def _roots(of: Function, lines: list[Statement]) -> dict[str, set[str]]:
    """The variables whose memory each pointer may lead into."""
    roots = {name: {name} for name in of.parameters}
    sets = [(name, value, k) for line in lines for k, (name, value) in enumerate(_set(line))]
    sets = [each for each in sets if isinstance(of.variables.get(each[0]), Pointer)]
    for _ in sets:
        for name, value, k in sets:
            roots.setdefault(name, set()).update(_named(value, roots, k))
    return roots


def _set(line: Statement) -> list[tuple[str, Node]]:
    """The variables that a statement sets: to a value, or to the results of a call."""
    match line:
        case Set(name, value):
            return [(name, value)]
        case Do(call, names):
            return [(name, call) for name in names]
    return []


def _named(pointer: Node, roots: dict[str, set[str]], result: int = 0) -> set[str]:
    """The parameters whose memory a pointer may lead into; of a call a result."""
    match pointer:
        case Node("place", _, (base, _)):
            return _named(base, roots)
        case Node("if", _, (_, one, two)):
            return _named(one, roots) | _named(two, roots)
        case Node("var", _, _, str(name)):
            return roots.get(name, set())
        case Node("call", _, args, Function() as called):
            places = [k for k, name in enumerate(called.parameters) if name in _returned(called)[result]]
            return set[str]().union(*(_named(args[k], roots) for k in places))
    return set()


def _returned(of: Function) -> list[set[str]]:
    """The parameters into whose memory each result of a function may lead."""
    lines = [each for line in of.body for each in statements_in(line)]
    roots, found = _roots(of, lines), [set[str]() for _ in of.results]
    for line in lines:
        if isinstance(line, Return):
            for into, value in zip(found, line.values, strict=True):
                into |= _named(value, roots)
    return found
