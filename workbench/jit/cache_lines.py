"""Cache lines of numbers in vector registers, for kernels whose results must not depend on how they are blocked.

    line = line_at(x, i)                entries i, .., of a vector x, as many as 64 bytes hold
    line = spread(x, value)             all entries equal
    total = plus(total, line)
    total = minus_product(total, a, b)  total - a*b, rounded once (fused multiply-add)
    line = first_entries(line, count)   zeros from entry `count` on
    west = shifted_up(before, line)     the entries at i - 1, .., for the lines at i - width and i
    east = shifted_down(line, after)    the entries at i + 1, .., for the lines at i and i + width
    put_line(x, i, line)

Every operation is rounded as IEEE 754 says, without licences to reorder or contract, so the same formula has the same
bits in every kernel. A loop of lines needs no proof that its arrays do not overlap. No index is tested. Shifted lines
take half the time of loads that cross two cache lines.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.jit.tiles import Tile

LINE = 64
"""Bytes of a line."""


def _kind(x: Any) -> Tile:
    """The lines of an array of real numbers."""
    return Tile(x.dtype, LINE * 8 // x.dtype.bitwidth)


@intrinsic
def line_at(_typing, x, i):
    """Entries i, i + 1, .. of x, shape (n,)."""
    line = _kind(x)

    def code(context, builder, signature, arguments):
        loaded = builder.load(_place(context, builder, signature, arguments, line))
        loaded.align = x.dtype.bitwidth // 8
        return loaded

    return line(x, i), code


@intrinsic
def entries_of_line(_typing, x):
    """How many entries of x a line has: a constant of the compiled kernel, where x.itemsize would be read."""
    width = _kind(x).width
    return types.intp(x), lambda context, _builder, _signature, _arguments: context.get_constant(types.intp, width)


@intrinsic
def put_line(_typing, x, i, line):
    """Store a line at entry i of x."""

    def code(context, builder, signature, arguments):
        stored = builder.store(arguments[2], _place(context, builder, signature, arguments, line))
        stored.align = x.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(x, i, line), code


@intrinsic
def spread(_typing, x, value):
    """A line of equal entries in the dtype of x."""
    line = _kind(x)

    def code(context, builder, signature, arguments):
        number = context.cast(builder, arguments[1], signature.args[1], x.dtype)
        first = builder.insert_element(ir.Constant(line.vector, ir.Undefined), number, _numbers([0]).constant[0])
        return builder.shuffle_vector(first, first, _numbers([0] * line.width))

    return line(x, value), code


@intrinsic
def plus(_typing, left, right):
    """left + right."""
    return left(left, right), lambda _context, builder, _signature, arguments: builder.fadd(*arguments)


@intrinsic
def times(_typing, left, right):
    """left*right, entry by entry."""
    return left(left, right), lambda _context, builder, _signature, arguments: builder.fmul(*arguments)


@intrinsic
def minus_product(_typing, total, left, right):
    """total - left*right, entry by entry, rounded once."""

    def code(_context, builder, _signature, arguments):
        vector = total.vector
        name = f"llvm.fma.v{total.width}f{total.dtype.bitwidth}"
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
        return builder.call(fma, [builder.fneg(arguments[1]), arguments[2], arguments[0]])

    return total(total, left, right), code


@intrinsic
def shifted_up(_typing, before, line):
    """The last entry of the line before, then the line without its last entry."""
    places = range(line.width - 1, 2 * line.width - 1)
    return line(before, line), lambda _context, builder, _signature, arguments: _picked(builder, arguments, places)


@intrinsic
def shifted_down(_typing, line, after):
    """The line without its first entry, then the first entry of the line after."""
    places = range(1, line.width + 1)
    return line(line, after), lambda _context, builder, _signature, arguments: _picked(builder, arguments, places)


def _picked(builder: Any, lines: Any, places: Any) -> Any:
    """Entries of two lines, one after the other, at constant places."""
    # As integers: for those alone does LLVM choose the instruction that shifts two registers.
    kind = lines[0].type
    bits = ir.VectorType(ir.IntType(LINE * 8 // kind.count), kind.count)
    whole = [builder.bitcast(line, bits) for line in lines]
    return builder.bitcast(builder.shuffle_vector(*whole, _numbers(places)), kind)


@intrinsic
def first_entries(_typing, line, count):
    """The line with zeros from entry `count` on."""

    def code(context, builder, signature, arguments):
        number = context.cast(builder, arguments[1], signature.args[1], types.int32)
        start = builder.insert_element(ir.Constant(_numbers([0]).type, ir.Undefined), number, _numbers([0]).constant[0])
        counts = builder.shuffle_vector(start, start, _numbers([0] * line.width))
        kept = builder.icmp_signed("<", _numbers(range(line.width)), counts)
        return builder.select(kept, arguments[0], ir.Constant(line.vector, None))

    return line(line, count), code


def _numbers(values: Any) -> ir.Constant:
    """A constant vector of 32-bit integers."""
    values = list(values)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), [ir.Constant(ir.IntType(32), k) for k in values])


def _place(context: Any, builder: Any, signature: Any, arguments: Any, line: Tile) -> Any:
    """The address of x[i] as a pointer to a line. arguments: array, index."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], signature.args[1], types.intp)
    return builder.bitcast(builder.gep(array.data, [index]), line.vector.as_pointer())
