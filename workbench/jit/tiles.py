"""Tiles: consecutive entries of a row, held in vector registers, for the text of kernels on block vectors.

    tile = take(x, row, column, width)        width: a number in the text
    total = zeros(x, width)
    total = add_scaled(total, factor, tile)   total + factor*tile
    total = add_products(total, left, right)  entry by entry
    put(y, row, column, total)

LLVM's vectorizer must prove that the arrays of a loop do not overlap, again for every entry of a matrix, which costs
more than it gains; sums that are vectors themselves need no proof. Tiles have the dtype of the array, or, by `widened`,
double precision. No index is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

REORDERED = ("reassoc", "contract", "nsz")
"""LLVM's licences for the sums of tiles: those of other kernels."""
INDEX = ir.IntType(64)


class Tile(types.Type):
    """`width` numbers of a dtype of numba."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(name=f"tile({dtype} x {width})")

    @property
    def real(self) -> Any:
        return self.dtype.underlying_float if isinstance(self.dtype, types.Complex) else self.dtype

    @property
    def vector(self) -> ir.VectorType:
        """Real numbers; a complex one is two of them."""
        element = ir.DoubleType() if self.real == types.float64 else ir.FloatType()
        return ir.VectorType(element, self.width * (2 if isinstance(self.dtype, types.Complex) else 1))


@register_model(Tile)
class TileModel(PrimitiveModel):
    """A vector of LLVM."""

    def __init__(self, manager: Any, of: Tile) -> None:
        super().__init__(manager, of, of.vector)


@intrinsic(prefer_literal=True)
def take(_typing, x, row, column, width):
    """Entries column, .., column + width - 1 of a row of x, shape (N, s), row-major."""
    if not isinstance(width, types.IntegerLiteral):
        return None
    tile = Tile(x.dtype, width.literal_value)

    def code(context, builder, signature, arguments):
        loaded = builder.load(_place(context, builder, signature.args, arguments, tile.vector))
        loaded.align = context.get_abi_alignment(context.get_value_type(tile.real))
        return loaded

    return tile(x, row, column, width), code


@intrinsic(prefer_literal=True)
def zeros(_typing, x, width):
    """A tile of zeros in the dtype of x."""
    if not isinstance(width, types.IntegerLiteral):
        return None
    tile = Tile(x.dtype, width.literal_value)
    return tile(x, width), lambda *_: ir.Constant(tile.vector, None)


@intrinsic(prefer_literal=True)
def filled(_typing, x, width, number):
    """A tile of equal numbers in the dtype of x."""
    if not isinstance(width, types.IntegerLiteral):
        return None
    tile = Tile(x.dtype, width.literal_value)

    def code(context, builder, signature, arguments):
        number = context.cast(builder, arguments[2], signature.args[2], tile.dtype)
        parts = [number]
        if isinstance(tile.dtype, types.Complex):
            made = context.make_complex(builder, tile.dtype, value=number)
            parts = [made.real, made.imag]
        row = ir.Constant(tile.vector, ir.Undefined)
        for k in range(tile.vector.count):
            row = builder.insert_element(row, parts[k % len(parts)], ir.Constant(ir.IntType(32), k))
        return row

    return tile(x, width, number), code


@intrinsic
def put(_typing, y, row, column, tile):
    """Store a tile into a row of y."""

    def code(context, builder, signature, arguments):
        place = _place(context, builder, signature.args, arguments, tile.vector)
        stored = builder.store(arguments[3], place)
        stored.align = context.get_abi_alignment(context.get_value_type(tile.real))
        return context.get_dummy_value()

    return types.void(y, row, column, tile), code


@intrinsic
def add_scaled(_typing, total, factor, tile):
    """total + factor*tile."""

    def code(context, builder, signature, arguments):
        factor = context.cast(builder, arguments[1], signature.args[1], tile.dtype)
        return _sum(context, builder, tile, arguments[0], factor, arguments[2])

    return total(total, factor, tile), code


@intrinsic
def add_products(_typing, total, left, right):
    """total + left*right, entry by entry."""

    def code(_context, builder, _signature, arguments):
        total, left, right = arguments
        if not isinstance(left_kind.dtype, types.Complex):
            return _add(builder, total, left, right)
        real, imaginary = (_shuffled(builder, left, lambda k, part=part: k // 2 * 2 + part) for part in (0, 1))
        return _complex_sum(builder, left_kind, total, real, imaginary, right)

    left_kind = left
    return total(total, left, right), code


@intrinsic
def conjugated(_typing, tile):
    """The complex conjugates of a tile."""

    def code(_context, builder, _signature, arguments):
        if not isinstance(tile.dtype, types.Complex):
            return arguments[0]
        return builder.fmul(ir.Constant(tile.vector, [1.0, -1.0] * tile.width), arguments[0], flags=REORDERED)

    return tile(tile), code


@intrinsic
def widened(_typing, tile):
    """The tile in double precision."""
    double = types.complex128 if isinstance(tile.dtype, types.Complex) else types.float64
    wide = Tile(double, tile.width)

    def code(_context, builder, _signature, arguments):
        return arguments[0] if wide.vector == tile.vector else builder.fpext(arguments[0], wide.vector)

    return wide(tile), code


def _place(context: Any, builder: Any, kinds: Any, arguments: Any, vector: ir.VectorType) -> Any:
    """The address of a row's entry as a pointer to a vector. arguments: array, row, column."""
    array = context.make_array(kinds[0])(context, builder, arguments[0])
    row, column = (
        context.cast(builder, value, kind, types.int64) for value, kind in zip(arguments[1:3], kinds[1:3], strict=True)
    )
    item = ir.Constant(INDEX, context.get_abi_sizeof(context.get_data_type(kinds[0].dtype)))
    offset = builder.add(builder.mul(builder.extract_value(array.strides, 0), row), builder.mul(column, item))
    address = builder.add(builder.ptrtoint(array.data, INDEX), offset)
    return builder.inttoptr(address, vector.as_pointer())


def _sum(context: Any, builder: Any, tile: Tile, total: Any, factor: Any, values: Any) -> Any:
    """total + factor*values for one factor."""
    if not isinstance(tile.dtype, types.Complex):
        return _add(builder, total, _splat(builder, factor, tile.vector), values)
    parts = context.make_complex(builder, tile.dtype, value=factor)
    real, imaginary = (_splat(builder, part, tile.vector) for part in (parts.real, parts.imag))
    return _complex_sum(builder, tile, total, real, imaginary, values)


def _complex_sum(builder: Any, tile: Tile, total: Any, real: Any, imaginary: Any, values: Any) -> Any:
    """total + real*values + imaginary*(i*values); real and imaginary hold every number twice."""
    signs = ir.Constant(tile.vector, [-1.0, 1.0] * tile.width)
    turned = builder.fmul(signs, _shuffled(builder, values, lambda k: k ^ 1), flags=REORDERED)
    return _add(builder, _add(builder, total, real, values), imaginary, turned)


def _shuffled(builder: Any, values: Any, source: Callable[[int], int]) -> Any:
    """A vector whose entry k is that of `values` at source(k)."""
    count = values.type.count
    places = ir.Constant(ir.VectorType(ir.IntType(32), count), [source(k) for k in range(count)])
    return builder.shuffle_vector(values, values, places)


def _add(builder: Any, total: Any, factor: Any, values: Any) -> Any:
    return builder.fadd(total, builder.fmul(factor, values, flags=REORDERED), flags=REORDERED)


def _splat(builder: Any, value: Any, vector: ir.VectorType) -> Any:
    """A vector of equal entries."""
    empty = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


_FUNCTIONS = (take, zeros, filled, put, add_scaled, add_products, conjugated, widened)
WORDS = {function.__name__: function for function in _FUNCTIONS}
"""What the text of a kernel may use."""


def _register_bytes() -> int:
    """Bytes of the widest vector register of this processor."""
    features = binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx") else 16


REGISTER = _register_bytes()
MOST = 16
"""Columns of a tile, at most."""


def widths(columns: int, dtype: np.dtype) -> list[tuple[int, int]]:
    """First column and width of tiles that cover a row of numbers of a dtype, the widest in which they are summed.

    Tiles of more than one register have a power of two of columns: LLVM takes vectors of other lengths apart into
    single numbers at the borders of loops, which makes products up to three times slower.
    """
    one = REGISTER // np.dtype(dtype).itemsize
    made, first = [], 0
    while first < columns:
        left = columns - first
        width = left if left <= one else min(MOST, 1 << left.bit_length() - 1)
        made.append((first, width))
        first += width
    return made
