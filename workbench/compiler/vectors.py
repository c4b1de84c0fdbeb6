"""Tiles of block vectors and cache lines; see `words`."""

from __future__ import annotations

import ast
import dataclasses

import numpy as np

from workbench.compiler.arrays import TWO, Arrays
from workbench.compiler.kinds import DOUBLE, Array, Tile, Value, in_tuple, real_of, types_of, vector_of
from workbench.compiler.reader import named
from workbench.compiler.tree import Node, Store, Vector, plus, times
from workbench.compiler.words import LINE_BYTES

NOTHING = in_tuple([])


class Vectors(Arrays):
    """Words of vectors in the text of a function."""

    def word_of_tiles(self, name: str, values: list[Value], node: ast.AST) -> Value | None:
        """The value of a word of tiles; None if it is no such word."""
        match name, values:
            case "take", [x, row, column, width]:
                tile = self._tile_of(x, width, node)
                return self._loaded(tile, *self._in_row(x, row, column, node))
            case "put", [y, row, column, line]:
                self.check_writeable(y, node)
                tile = Tile(self.array(y, node).dtype, self._tile(line, node).width)
                self.write(Store(*self._in_row(y, row, column, node), self.converted(line, tile).parts[0]))
                return NOTHING
            case (("zeros" | "filled"), [x, width, *number]):
                tile = self._tile_of(x, width, node)
                return self.filled(tile, number[0] if number else self.literal(0, node))
            case "add_scaled", [total, factor, line]:
                return self.sum_of_tiles(total, self.converted(factor, self._tile(total, node).dtype), line, node)
            case "add_products", [total, left, right]:
                return self.sum_of_tiles(total, left, right, node)
            case "conjugated", [line]:
                return self.conjugated(line, node)
            case "columns", [tuple_, first, width]:
                entries = self.entries(tuple_, node)
                return in_tuple([self._columns(each, first, self.constant(width, node), node) for each in entries])
            case "widened", [line]:
                return self.wide_tile(line, np.result_type(self._tile(line, node).dtype, DOUBLE))
        return None

    def word_of_lines(self, name: str, values: list[Value], node: ast.AST) -> Value | None:
        """The value of a word of cache lines; None if it is no such word."""
        match name, values:
            case "line_at", [x, i]:
                return self._loaded(self._line(x, node), x.parts[0], self.integer(i, node))
            case "put_line", [x, i, line]:
                self.check_writeable(x, node)
                if self._line(x, node) != line.kind:
                    self.refuse(node, f"{named(line.kind)} in {named(x.kind)}")
                self.write(Store(x.parts[0], self.integer(i, node), line.parts[0]))
                return NOTHING
            case "entries_of_line", [x]:
                return self.literal(self._line(x, node).width, node)
            case "spread", [x, number]:
                return self.filled(self._line(x, node), number)
            case (("plus" | "times"), [left, right]):
                return self.of_tiles("+" if name == "plus" else "*", left, right, node)
            case "minus_product", [total, left, right]:
                vector = vector_of(self._tile(total, node))
                negative = Node("neg", vector, left.parts)
                return Value(total.kind, (Node("fma", vector, (negative, right.parts[0], total.parts[0])),))
            case (("shifted_up" | "shifted_down"), [one, two]):
                tile = self._tile(one, node)
                first = tile.width - 1 if name == "shifted_up" else 1
                places = tuple(range(first, first + tile.width))
                return Value(tile, (Node("pick", vector_of(tile), (one.parts[0], two.parts[0]), places),))
            case "first_entries", [line, count]:
                vector = vector_of(self._tile(line, node))
                return Value(line.kind, (Node("head", vector, (line.parts[0], self.integer(count, node))),))
        return None

    def _tile_of(self, x: Value, width: Value, node: ast.AST) -> Tile:
        """The kind of tiles of an array."""
        count = self.constant(width, node)
        if self.array(x, node).dtype.kind not in "fc" or count < 1:
            self.refuse(
                node, f"a tile of {count} numbers of {named(x.kind)}; tiles have at least one real or complex number"
            )
        return Tile(self.array(x, node).dtype, count)

    def conjugated(self, line: Value, node: ast.AST) -> Value:
        """The complex conjugates of a tile."""
        tile = self._tile(line, node)
        if tile.dtype.kind != "c":
            return line
        vector = vector_of(tile)
        signs = Node("const", vector, (), (1.0, -1.0) * tile.width)
        return Value(tile, (Node("*", vector, (signs, line.parts[0])),))

    def _columns(self, of: Value, first: Value, width: int, node: ast.AST) -> Value:
        """Some columns of a block vector, as a vector of tiles."""
        if not isinstance(of.kind, Array) or of.kind.ndim != 2:
            return of
        pointer, rows, length = of.parts
        start = self.integer(first, node)
        place = Node("place", pointer.type, (pointer, times(start, TWO) if of.kind.dtype.kind == "c" else start))
        return Value(dataclasses.replace(of.kind, ndim=1, tile=width), (place, rows, length))

    def wide_tile(self, line: Value, wide: np.dtype) -> Value:
        """The tile in another precision."""
        tile = line.kind
        assert isinstance(tile, Tile)
        made = Tile(wide if tile.dtype.kind == "c" else real_of(wide), tile.width)
        return line if made == tile else Value(made, (Node("to", vector_of(made), line.parts),))

    def _tile(self, value: Value, node: ast.AST) -> Tile:
        if not isinstance(value.kind, Tile):
            self.refuse(node, f"{named(value.kind)} where a tile is needed")
        return value.kind

    def _line(self, x: Value, node: ast.AST) -> Tile:
        dtype = self.array(x, node).dtype
        if dtype.kind != "f":
            self.refuse(node, f"cache lines of {named(x.kind)}, and they have fractions")
        return Tile(dtype, LINE_BYTES // dtype.itemsize)

    def _loaded(self, tile: Tile, pointer: Node, place: Node) -> Value:
        return Value(tile, (Node("load", types_of(tile)[0], (pointer, place)),))

    def _in_row(self, x: Value, row: Value, column: Value, node: ast.AST) -> tuple[Node, Node]:
        if self.array(x, node).ndim != 2:
            self.refuse(node, f"rows of {named(x.kind)}")
        place = plus(times(self.integer(row, node), x.parts[2]), self.integer(column, node))
        return x.parts[0], times(place, TWO) if self.array(x, node).dtype.kind == "c" else place

    def sum_of_tiles(self, total: Value, left: Value, right: Value, node: ast.AST) -> Value:
        """total + left*right, left a number or a tile."""
        tile, vector = self._tile(total, node), vector_of(self._tile(total, node))
        if not isinstance(right.kind, Tile):
            left, right = right, left
        if not isinstance(left.kind, Tile):
            left = self.converted(left, tile.dtype)
        if right.kind != tile or (isinstance(left.kind, Tile) and left.kind != tile):
            self.refuse(node, f"{named(left.kind)} times {named(right.kind)} in {named(tile)}")
        if tile.dtype.kind != "c":
            return Value(tile, (_sum(vector, total.parts[0], self.converted(left, tile).parts[0], right.parts[0]),))
        if isinstance(left.kind, Tile):
            both = (self.temporary(left.parts[0]),) * 2
            pairs = (tuple(k // 2 * 2 + part for k in range(vector.width)) for part in (0, 1))
            parts = [Node("pick", vector, both, places) for places in pairs]
        else:
            parts = [Node("splat", vector, (part,)) for part in left.parts]
        values = self.temporary(right.parts[0])
        turned = Node("pick", vector, (values, values), tuple(k ^ 1 for k in range(vector.width)))
        signs = Node("const", vector, (), (-1.0, 1.0) * tile.width)
        turned = Node("*", vector, (signs, turned))
        return Value(tile, (_sum(vector, _sum(vector, total.parts[0], parts[0], values), parts[1], turned),))


def _sum(vector: Vector, total: Node, left: Node, right: Node) -> Node:
    return Node("+", vector, (total, Node("*", vector, (left, right))))
