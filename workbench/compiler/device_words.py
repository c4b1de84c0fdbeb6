"""Words of accelerators, whose work-items come in groups: places among them, memory of a group, barriers."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Protocol

from workbench.compiler.constants import Named
from workbench.compiler.kinds import INT, Array, Converter, Kind, Row, Value, in_tuple, real_of
from workbench.compiler.tree import Do, For, Function, Node, Pointer, Room, integer, times
from workbench.compiler.vectors import NOTHING, TWO, Vectors

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

    def columns_apart(self, of: Value, column: Value, width: int, node: ast.AST) -> Value:
        """The entries of a tuple; in place of block vectors of `width` columns one of their columns."""
        return in_tuple([self._column(each, column, width, node) for each in self.entries(of, node)])

    def _column(self, of: Value, column: Value, width: int, node: ast.AST) -> Value:
        if not isinstance(of.kind, Array) or of.kind.ndim != 2:
            return of
        pointer, rows, _ = of.parts
        place = Node("place", pointer.type, (pointer, self._scaled(of.kind, self.integer(column, node))))
        return Value(dataclasses.replace(of.kind, ndim=1, apart=True), (place, rows, integer(width)))

    def items(self, name: str, ends: list[Node], body: Callable[[], tuple], node: ast.AST) -> For:
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
