"""What printed kernels use in addition to numba's own words: elements without tests of the index, unsigned division."""

from __future__ import annotations

from typing import Any

from numba import extending, njit, types

from workbench.jit.dot_sums import total

intrinsic: Any = extending.intrinsic
"""Of no type, since a call has one argument less than the function."""


@intrinsic
def at(_typing, array, place):
    """array[place] of a contiguous array, counted row by row; the place is not negative."""

    def code(context, builder, signature, arguments):
        return context.unpack_value(builder, signature.args[0].dtype, _pointer(context, builder, signature, arguments))

    return array.dtype(array, place), code


@intrinsic
def set_at(_typing, array, place, value):
    """array[place] = value."""

    def code(context, builder, signature, arguments):
        kind = signature.args[0].dtype
        number = context.cast(builder, arguments[2], signature.args[2], kind)
        context.pack_value(builder, kind, number, _pointer(context, builder, signature, arguments))
        return context.get_dummy_value()

    return types.void(array, place, value), code


@intrinsic
def quotient(_typing, a, b):
    """a // b of numbers that are not negative."""
    return types.int64(types.int64, types.int64), lambda _context, builder, _signature, sides: builder.udiv(*sides)


@intrinsic
def remainder(_typing, a, b):
    """a % b of numbers that are not negative."""
    return types.int64(types.int64, types.int64), lambda _context, builder, _signature, sides: builder.urem(*sides)


@njit(nogil=True, inline="always")
def scaled_by(number, value):  # pragma: no cover
    """A real number times a complex one."""
    return complex(number * value.real, number * value.imag)


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = context.cast(builder, arguments[1], signature.args[1], types.intp)
    return builder.gep(array.data, [place], inbounds=True)


WORDS = {word.__name__: word for word in (at, set_at, quotient, remainder, scaled_by, total)}
"""What the text of a kernel may use."""
