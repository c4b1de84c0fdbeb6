"""Arrays and tuples: their elements, rows and slices.

Bounds of indices are not tested. An index below 0 counts from the end if it is a literal.
"""

from __future__ import annotations

import ast
import dataclasses

import numpy as np

from workbench.compiler.kinds import INT, Array, Converter, Kind, Tile, Value, real_of, types_of
from workbench.compiler.numbers import Numbers
from workbench.compiler.reader import named
from workbench.compiler.tree import ONE, ZERO, Do, For, Node, Pointer, Room, Store, integer, minus, nodes, plus, times

TWO = integer(2)
MOST_BYTES = 1 << 16
"""Most bytes of an array that belongs to a thread: it is on the stack."""


class Arrays(Numbers):
    """Arrays and tuples in the text of a function.

    complex_as_pairs: both parts of a complex number in memory of several threads are read and written by one
    instruction, not one after the other.
    """

    complex_as_pairs = False

    def array(self, value: Value, node: ast.AST) -> Array:
        """The kind of an array."""
        if not isinstance(value.kind, Array):
            self.refuse(node, f"{named(value.kind)} where an array is needed")
        return value.kind

    def local_array(self, dtype: np.dtype, count: int, node: ast.AST) -> Value:
        """An array of one dimension that belongs to the thread."""
        if not 0 < count * dtype.itemsize <= MOST_BYTES:
            self.refuse(node, f"a local array of {count} {dtype}: at least one entry, and at most {MOST_BYTES} bytes")
        memory = real_of(dtype).str[1:]
        room = self.new_variable(Room(memory, count * (2 if dtype.kind == "c" else 1)))
        place = Node("room", Pointer(memory, own=True), (), room.of)
        return Value(Array(dtype, 1, own=True), (place, integer(count)))

    def check_writeable(self, of: Value, node: ast.AST) -> None:
        """Refuse a store into an array that is read-only."""
        if not self.array(of, node).writeable:
            self.refuse(node, "a store into an array that is read-only")

    def unpacked(self, of: Value, count: int, node: ast.AST) -> list[Value]:
        """The entries of a tuple, or of an array with one dimension. count: the number of entries; a tuple of another
        length is refused, of an array the first ones are taken."""
        if isinstance(of.kind, Array) and of.kind.ndim == 1:
            return [self.load(self.element(of, integer(k))) for k in range(count)]
        found = self.entries(of, node)
        if len(found) != count:
            self.refuse(node, f"{len(found)} entries for {count} names")
        return found

    def element(self, of: Value, place: Node) -> Value:
        """One element of an array, counted row by row."""
        assert isinstance(of.kind, Array)
        place = self._scaled(of.kind, times(place, of.parts[2]) if of.kind.tile or of.kind.strided else place)
        kind = dataclasses.replace(of.kind, ndim=0)
        return Value(kind, (Node("place", of.parts[0].type, (of.parts[0], place)),))

    def load(self, found: Value) -> Value:
        """The number in an element of an array; any other value as it is."""
        if not isinstance(found.kind, Array) or found.kind.ndim:
            return found
        pointer, index = found.parts[0].args
        if found.kind.tile:
            tile = Tile(found.kind.dtype, found.kind.tile)
            return Value(tile, (Node("load", types_of(tile)[0], (pointer, index)),))
        if self._is_pair(found.kind):
            one, two = (self.new_variable(types_of(found.kind.dtype)[0]) for _ in range(2))
            self.write(Do(Node("pair", one.type, (pointer, index)), (str(one.of), str(two.of))))
            return Value(found.kind.dtype, (one, two))
        kind: Kind = INT if found.kind.dtype.kind in "iu" else found.kind.dtype
        parts = (Node("load", t, (pointer, plus(index, integer(k)))) for k, t in enumerate(types_of(kind)))
        return Value(kind, tuple(parts))

    def store(self, found: Value, value: Value, node: ast.AST) -> None:
        """Store into one element, or one number into all."""
        if not isinstance(found.kind, Array):
            self.refuse(node, f"{named(found.kind)} where an element of an array is needed")
        self.check_writeable(found, node)
        if found.kind.ndim:
            self._fill(found, value, node)
            return
        pointer, index = found.parts[0].args
        if found.kind.tile:
            tile = self.converted(value, Tile(found.kind.dtype, found.kind.tile))
            self.write(Store(pointer, index, tile.parts[0]))
            return
        if found.kind.dtype.kind == "c":
            pointer, index = self.temporary(pointer), self.temporary(index)
        first, *others = self.converted(value, found.kind.dtype).parts
        if self._is_pair(found.kind):
            self.write(Do(Node("put pair", first.type, (pointer, index, first, *others))))
            return
        # The second part is read before the first one is stored, perhaps where it is read from.
        others = [self.copied(part) if any(node.op == "load" for node in nodes(part)) else part for part in others]
        for k, part in enumerate((first, *others)):
            self.write(Store(pointer, plus(index, integer(k)), part))

    def _is_pair(self, kind: Array) -> bool:
        """True if both parts of an element are read and written together."""
        return self.complex_as_pairs and kind.dtype.kind == "c" and not kind.own

    def size(self, of: Value) -> Node:
        """The number of elements of an array."""
        first, *others = of.parts[1 : 1 + self.array(of, self.source.tree).ndim]
        for each in others:
            first = times(first, each)
        return first

    def subscript(self, of: Value, node: ast.expr) -> Value:
        """An element, a row or a slice of an array; an entry of a tuple."""
        place = self.place
        found = self._entry(self.entries(of), node) if isinstance(of.kind, tuple) else self._part(of, node)
        if self.stored_since(place):
            self.refuse(node, "an index with a call that stores into arrays; name its result before")
        return found

    def _part(self, of: Value, node: ast.expr) -> Value:
        """The part of an array at the indices, of which the last one may be a slice."""
        kind = self.array(of, node)
        indices = node.elts if isinstance(node, ast.Tuple) else [node]
        if len(indices) > kind.ndim:
            self.refuse(node, f"{len(indices)} indices of {named(kind)}")
        if (kind.tile or kind.strided) and (len(indices) != 1 or isinstance(indices[0], ast.Slice)):
            self.refuse(node, "something else than one index of a block vector")
        lengths, place = of.parts[1 : 1 + kind.ndim], ZERO
        kept = list(lengths[len(indices) :])
        for k, each in enumerate(indices):
            if isinstance(each, ast.Slice):
                if k < len(indices) - 1 or each.step is not None:
                    self.refuse(node, "a slice with a step, or before an index")
                start = self.temporary(self._from_end(each.lower, lengths[k]) if each.lower else ZERO)
                end = self._from_end(each.upper, lengths[k]) if each.upper else lengths[k]
                kept = [minus(end, start), *kept]
            else:
                start = self._from_end(each, lengths[k])
            place = start if k == 0 else plus(times(place, lengths[k]), start)
        for length in lengths[len(indices) :]:
            place = times(place, length)
        if not kept:
            return self.element(of, place)
        pointer = Node("place", of.parts[0].type, (of.parts[0], self._scaled(kind, place)))
        return Value(dataclasses.replace(kind, ndim=len(kept)), (pointer, *kept))

    def attribute(self, of: Value, name: str, node: ast.AST) -> Value:
        """An attribute of an array or of a number."""
        match of.kind, name:
            case Array(), "size":
                return Value(INT, (self.size(of),))
            case Array(ndim=ndim), "shape":
                return Value((INT,) * ndim, of.parts[1 : 1 + ndim])
            case Array(dtype=dtype), "dtype":
                return Value(Converter(dtype), ())
            case Converter(), "type":
                return of
            case np.dtype(kind="c"), "real" | "imag":
                return Value(real_of(of.kind), (of.parts[name == "imag"],))
            case np.dtype(), "real":
                return of
        self.refuse(node, f"no attribute .{name} of {named(of.kind)}")

    def _from_end(self, node: ast.expr, length: Node) -> Node:
        """An index as a place; a constant below 0 counts from the end."""
        found = self.integer(self.value(node), node)
        if found.op == "const" and self.constant(Value(INT, (found,)), node) < 0:
            return plus(length, found)
        return found

    def _scaled(self, kind: Array, place: Node) -> Node:
        """The place of an element among the real numbers in memory: a complex element is two of them."""
        return times(place, TWO) if kind.dtype.kind == "c" else place

    def _fill(self, found: Value, value: Value, node: ast.AST) -> None:
        """Store one number into all elements, in a loop."""
        if isinstance(value.kind, Array | Tile | Converter | tuple):
            self.refuse(node, f"{named(value.kind)} for all elements")
        size, value, found = self.size(found), self.kept(value), self.kept(found)
        counter = self.new_variable("i")
        with self.aside() as inside:
            self.store(self.element(found, counter), value, node)
        assert isinstance(counter.of, str)
        self.write(For(counter.of, ZERO, size, ONE, tuple(inside)))

    def _entry(self, values: list[Value], node: ast.expr) -> Value:
        """An entry of a tuple. With a variable index, comparisons with each index choose it."""
        place = self.integer(self.value(node), node)
        if place.op == "const":
            index = self.constant(Value(INT, (place,)), node)
            if index not in range(-len(values), len(values)):
                self.refuse(node, f"entry {index} of a tuple of {len(values)}")
            return values[index]
        if len({each.kind for each in values}) != 1:
            self.refuse(node, "a variable index of a tuple of several kinds")
        place, chosen = self.temporary(place), values[0].parts
        for k, each in enumerate(values[1:], 1):
            here = Node("==", "b", (place, integer(k)))
            chosen = tuple(Node("if", a.type, (here, a, b)) for a, b in zip(each.parts, chosen, strict=True))
        return Value(values[0].kind, chosen)
