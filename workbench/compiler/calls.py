"""Calls: words, functions of numbers, and helpers, which stay functions of the tree.

Words of accelerators, whose work-items come in groups, are places among them, memory of a group, barriers.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import math
import types
from collections.abc import Callable
from typing import Protocol

import numpy as np

from workbench.compiler.constants import Named
from workbench.compiler.constants import named as named_constants
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
    settled,
)
from workbench.compiler.numbers import complex_modulus, complex_root, is_complex
from workbench.compiler.reader import named
from workbench.compiler.source import ROWS, Source
from workbench.compiler.tree import (
    ONE,
    POSITIVE,
    ZERO,
    Do,
    For,
    Function,
    Node,
    Pointer,
    Room,
    Statement,
    integer,
    minus,
    times,
)
from workbench.compiler.vectors import NOTHING, TWO, Vectors
from workbench.compiler.words import WORDS

PLACES = {"member": "LOCAL_ID", "strips": "STRIPS"}
OF_GROUPS = {"group": "GROUP_ID", "groups": "GROUPS"}
"""Words of kernels alone: a kernel that runs as a step of another one has its own."""
DEVICE_WORDS = frozenset([*PLACES, *OF_GROUPS, "members", "barrier", "shared_array"])


class Helpers(Protocol):
    """The functions of one kernel. group: the macro that is the number of work-items of a group; empty for the cores.
    entry: the kernel itself."""

    group: str
    entry: Function

    def function(
        self, of: Callable[..., object] | Row, kinds: tuple[Kind, ...], constants: Named, licences: tuple[str, ...]
    ) -> tuple[Function, Kind]:
        """A helper for these kinds of arguments and constants, and the kind of its result."""
        ...


class DeviceWords(Vectors):
    """Words of accelerators in the text of a function."""

    helpers: Helpers

    def device_word(self, name: str, values: list[Value], node: ast.AST) -> Value | None:
        """The value of a word of accelerators; None if it is no such word."""
        if name not in DEVICE_WORDS:
            return None
        self._check_device(name, node)
        match name, values:
            case "members", []:
                return Value(INT, (_macro(self.helpers.group),))
            case _, [] if name in PLACES:
                return Value(INT, (_macro(PLACES[name]),))
            case _, [] if name in OF_GROUPS:
                self._check_kernel(name, node)
                return Value(INT, (_macro(OF_GROUPS[name]),))
            case "barrier", []:
                self.write(Do(_macro("BARRIER")))
                return NOTHING
            case "shared_array", [Value(kind=Converter(dtype)), count]:
                self._check_kernel(name, node)
                numbers = self.integer(count, node)
                room = self.new_variable(
                    Room(real_of(dtype).str[1:], times(numbers, TWO) if dtype.kind == "c" else numbers, group=True)
                )
                place = Node("room", Pointer(real_of(dtype).str[1:], group=True), (), room.of)
                return Value(Array(dtype, 1, group=True), (place, numbers))
        self.refuse(node, f"{name} with other arguments")

    def with_one_column(self, of: Value, column: Value, width: int, node: ast.AST) -> Value:
        """The entries of a tuple; in place of block vectors of `width` columns one of their columns."""
        return in_tuple([self._column(each, column, width, node) for each in self.entries(of, node)])

    def _column(self, of: Value, column: Value, width: int, node: ast.AST) -> Value:
        if not isinstance(of.kind, Array) or of.kind.ndim != 2:
            return of
        pointer, rows, _ = of.parts
        place = Node("place", pointer.type, (pointer, self._scaled(of.kind, self.integer(column, node))))
        return Value(dataclasses.replace(of.kind, ndim=1, strided=True), (place, rows, integer(width)))

    def items(self, name: str, ends: list[Node], body: Callable[[], tuple[Statement, ...]], node: ast.AST) -> For:
        """The loop over those of `rows` indices from a first to before a last one that belong to a work-item."""
        self._check_device("items", node)
        self._check_kernel("items", node)
        rows, first, end = map(self.temporary, ends)
        return For(name, _macro("ITEMS_FROM", rows, first), _macro("ITEMS_TO", rows, end), _macro("ITEMS_STEP"), body())

    def _check_device(self, name: str, node: ast.AST) -> None:
        if not self.helpers.group:
            self.refuse(node, f"{name} is a word of accelerators, which the cores do not have")

    def _check_kernel(self, name: str, node: ast.AST) -> None:
        if self.made is not self.helpers.entry:
            self.refuse(node, f"{name} in a function that a kernel calls; give it the value")


def _macro(name: str, *arguments: Node) -> Node:
    return Node("device", "i", arguments, name)


OF_FRACTIONS = {"sqrt": 1, "cos": 1, "sin": 1, "exp": 1, "floor": 1, "copysign": 2}
"""Functions of numpy and math whose result is a fraction, with the number of their arguments."""


class Calls(DeviceWords):
    """Calls in the text of a function."""

    def __init__(self, helpers: Helpers, source: Source, kinds: tuple[Kind, ...], made: Function) -> None:
        super().__init__(source, kinds, made)
        self.helpers = helpers
        self.complex_as_pairs = bool(helpers.group)

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        values, function = self.values(node.args), self.known(node.func)
        if inspect.isfunction(function) and function not in WORDS:
            return self.called(function, values, self._constants(node))
        if node.keywords:
            self.refuse(node, "a call with named arguments")
        if inspect.isfunction(function):
            found = self._word(WORDS[function], values, node)
            return self.refuse(node, "a word with other arguments") if found is None else found
        if function is None and (isinstance(node.func, ast.Attribute) or self._is_here(node.func)):
            of = self.value(node.func)
            return self.called(of.kind, values) if isinstance(of.kind, Row) else self._converted(of, values, node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function is None or function not in [getattr(module, name, None) for module in (builtins, math, np)]:
            self.refuse(node, "a call of something that is no function of kernels")
        return self._of_numbers(name, values, node)

    def known(self, node: ast.expr) -> object:
        """The object of a name that is no variable, from the module of the function or one that it names; None if there
        is none."""
        match node:
            case ast.Name(id=name) if not self._is_here(node):
                return self.source.names.get(name, getattr(builtins, name, None))
            case ast.Attribute(value=of, attr=name) if isinstance(module := self.known(of), types.ModuleType):
                return getattr(module, name, None)
        return None

    def values(self, nodes: list[ast.expr], *before: Value) -> list[Value]:
        """Values of several expressions from left to right, after those before; a starred one is its entries."""
        found = list(before)
        for each in nodes:
            place = self.place
            more = self.entries(self.value(each.value)) if isinstance(each, ast.Starred) else [self.value(each)]
            found = [*self.read_before(place, found), *more]
        return found

    def called(self, function: Callable[..., object] | Row, values: list[Value], constants: Named = ()) -> Value:
        """The result of a helper."""
        values = [self.converted(value, settled(value.kind)) for value in values]
        # The precisions of rows are those of their helpers too.
        constants = (*(pair for pair in self.source.constants if pair[0].startswith(".")), *constants)
        kinds = tuple(value.kind for value in values)
        made, kind = self.helpers.function(function, kinds, constants, self.made.licences)
        parts = tuple(part for value in values for part in value.parts)
        if len(made.results) == 1:
            return Value(kind, (self.copied(Node("call", made.results[0], parts, made)),))
        results = [self.new_variable(t) for t in made.results]
        self.write(Do(Node("call", "i", parts, made), tuple(str(each.of) for each in results)))
        return Value(kind, tuple(results))

    def _precision(self, name: str, node: ast.AST) -> np.dtype:
        of = self.constants.get(f".{name}")
        if of is None or not isinstance(of.kind, Converter):
            self.refuse(node, f"{name} in a function that is not one of rows")
        return of.kind.dtype

    def _inside(self, place: Node, node: ast.AST) -> Value:
        """True where this is a row, so everywhere in rows that have all their neighbours."""
        self._precision("wide", node)
        if ROWS not in self.given:
            return self.literal(True, node)
        return Value(BOOL, (Node("below", "b", (place, Node("var", "i", (), ROWS))),))

    def _constants(self, node: ast.Call) -> Named:
        """The constants of a call, by name."""
        found = {}
        for each in node.keywords:
            if each.arg is None:
                self.refuse(node, "a call with ** arguments")
            found[each.arg] = self.known_value(self.value(each.value), each.value)
        return named_constants(found)

    def _is_here(self, node: ast.expr) -> bool:
        """True for a name that is a variable or a constant of the function."""
        return isinstance(node, ast.Name) and node.id in self.own_names

    def _converted(self, of: Value, values: list[Value], node: ast.AST) -> Value:
        if not isinstance(of.kind, Converter) or len(values) != 1:
            self.refuse(node, f"a call of {named(of.kind)}")
        return self.converted(values[0], _in_register(of.kind.dtype))

    def _word(self, name: str, values: list[Value], node: ast.AST) -> Value | None:
        match name, values:
            case "at", [of, place]:
                self.array(of, node)
                return self.load(self.element(of, self.integer(place, node)))
            case "set_at", [of, place, value]:
                self.array(of, node)
                self.store(self.element(of, self.integer(place, node)), value, node)
                return NOTHING
            case (("quotient" | "remainder"), [a, b]):
                found = self.operation("//" if name == "quotient" else "%", a, b, node)
                part = found.parts[0]
                return Value(INT, (dataclasses.replace(part, of=POSITIVE) if part.op in ("//", "%") else part,))
            case "scaled_by", [number, Value(kind=np.dtype(kind="c") as kind, parts=parts)]:
                number = self.kept(number)
                products = [self.operation("*", number, Value(real_of(kind), (part,)), node) for part in parts]
                assert isinstance(products[0].kind, np.dtype)
                found = tuple(each.parts[0] for each in products)
                return Value(np.result_type(products[0].kind, np.complex64), found)
            case (("conj" | "real" | "sqrt"), _):
                return self._of_numbers(name, values, node)
            case "wide", [Value(kind=Tile()) as line]:
                return self.wide_tile(line, self._precision(name, node))
            case (("wide" | "narrow"), [value]):
                dtype = self._precision(name, node)
                return self.converted(value, dtype if is_complex(value) else real_of(dtype))
            case "inside", [place]:
                return self._inside(self.integer(place, node), node)
            case "counted_from", [of, first]:
                self.array(of, node)
                start = self.element(of, minus(ZERO, self.integer(first, node))).parts[0]
                return Value(of.kind, (self.temporary(start), *of.parts[1:]))
            case "local", [Value(kind=Converter(dtype)), count]:
                return self.local_array(dtype, self.constant(count, node), node)
            case "published", [states, place]:
                return Value(INT, (self.copied(Node("atomic", "i", self._counter(states, place, node), "read")),))
            case "publish", [states, place, value]:
                parts = *self._counter(states, place, node), self.integer(value, node)
                self.write(Do(Node("atomic", "i", parts, "write")))
                return NOTHING
            case "acquired", [states, place]:
                parts = *self._counter(states, place, node), ONE
                before = self.copied(Node("atomic", "i", parts, "exchange"))
                return Value(BOOL, (Node("==", "b", (before, ZERO)),))
            case "column", [of, column, width]:
                return self.with_one_column(of, column, self.constant(width, node), node)
        for words in (self.word_of_tiles, self.word_of_lines, self.device_word):
            if (found := words(name, values, node)) is not None:
                return found
        return None

    def counters(self, states: Value, node: ast.AST) -> tuple[Node, Node, Node]:
        """Address, rows and row length of an array whose rows begin with counters."""
        if states.kind != Array(INT, 2):
            self.refuse(node, f"counters in {named(states.kind)}")
        pointer, rows, length = states.parts
        return pointer, rows, length

    def _counter(self, states: Value, place: Value, node: ast.AST) -> tuple[Node, Node]:
        pointer, _, length = self.counters(states, node)
        return pointer, times(self.integer(place, node), length)

    # Functions of numbers.

    def _of_numbers(self, name: str, values: list[Value], node: ast.AST) -> Value:
        match name, values:
            case _, [value] if isinstance(dtype := vars(np).get(name), type) and issubclass(dtype, np.number):
                return self.converted(value, _in_register(np.dtype(dtype)))
            case (("int" | "float"), [value]):
                return self.converted(value, INT if name == "int" else DOUBLE)
            case "len", [Value(kind=kind) as value]:
                if isinstance(kind, tuple):
                    return self.literal(len(self.entries(value)), node)
                return Value(INT, (value.parts[self.array(value, node).ndim and 1],))
            case (("conj" | "real"), [Value(kind=np.dtype(kind="c") as kind, parts=(a, b))]):
                return Value(kind, (a, Node("neg", b.type, (b,)))) if name == "conj" else Value(real_of(kind), (a,))
            case (("conj" | "real"), [Value(kind=np.dtype() | Literal()) as value]):
                return value
            case "conj", [Value(kind=Tile()) as value]:
                return self.conjugated(value, node)
            case "sqrt", [Value(kind=np.dtype(kind="c") as kind, parts=parts)]:
                root = self.called(complex_root, [Value(real_of(kind), (part,)) for part in parts])
                return Value(kind, root.parts)
            case "true_divide", [one, two]:
                return self.operation("/", one, two, node)
            case "complex", [one, two] if not any(map(is_complex, values)):
                kind = self.common(one.kind, two.kind, node)
                kind = kind if isinstance(kind, np.dtype) and kind.kind == "f" else DOUBLE
                parts = tuple(self.converted(each, kind).parts[0] for each in values)
                return Value(np.result_type(kind, np.complex64), parts)
            case "abs", [value]:
                return self._absolute(value, node)
            case (("min" | "max"), [first, *others]) if others:
                for other in others:
                    first = self._extreme("<" if name == "min" else ">", first, other, node)
                return first
            case _ if len(values) == OF_FRACTIONS.get(name):
                kind = values[0].kind if any(equal(values[0].kind, each) for each in (FLOAT, DOUBLE)) else DOUBLE
                parts = tuple(self.converted(each, kind).parts[0] for each in values)
                return Value(kind, (Node("fn", parts[0].type, parts, name),))
        self.refuse(node, "no such function of numbers")

    def _absolute(self, value: Value, node: ast.AST) -> Value:
        match value:
            case Value(np.dtype(kind="c") as kind, parts):
                return self.called(complex_modulus, [Value(real_of(kind), (part,)) for part in parts])
            case Value(np.dtype(kind="f") as kind, (part,)):
                return Value(kind, (Node("fn", part.type, (part,), "abs"),))
        part = self.temporary(self.integer(value, node))
        negative = Node("<", "b", (part, ZERO))
        return Value(INT, (Node("if", "i", (negative, Node("neg", "i", (part,)), part)),))

    def _extreme(self, sign: str, best: Value, other: Value, node: ast.AST) -> Value:
        kind = self.united(best.kind, other.kind, node)
        best, other = self.kept(self.converted(best, kind)), self.kept(self.converted(other, kind))
        better = self.comparison(sign, other, best, node)
        return Value(kind, (Node("if", best.parts[0].type, (better, other.parts[0], best.parts[0])),))


def _in_register(dtype: np.dtype) -> np.dtype:
    return INT if dtype.kind in "iu" else dtype
