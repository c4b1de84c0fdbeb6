"""Kernels run by Python itself: their own text, with words over NumPy's arrays, as a reference for machine code."""

from __future__ import annotations

import functools
import inspect
import types

import numpy as np

from workbench.compiler import words
from workbench.jit import compiled
from workbench.jit.work_stealing import counters


def _of_rows(x, row, column, width):
    # A tile may go on in the next rows, which lie behind one another.
    first = row * x.shape[1] + column
    return x.reshape(-1)[first : first + width]


def _set(where, place, value):
    where.reshape(-1)[place] = value


def _store(where, value):
    where[:] = value


def _line(x):
    return words.LINE_BYTES // x.itemsize


def _fma(total, left, right):
    # The product of two numbers of double precision is exact in none that NumPy has everywhere: the last bit differs.
    return total - left * right


def _first(line, count):
    return np.where(np.arange(line.size) < count, line, line.dtype.type(0))


OF_WORDS = {
    "local": lambda dtype, count: np.empty(count, dtype),
    "publish": lambda progress, place, value: _set(progress[place], 0, value),
    "published": lambda progress, place: progress[place, 0],
    "acquired": lambda locks, place: locks[place, 0] == 0 and (_set(locks[place], 0, 1) or True),
    "at": lambda x, place: x.reshape(-1)[place],
    "set_at": _set,
    "quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "scaled_by": lambda number, value: complex(number * value.real, number * value.imag),
    "take": lambda *of: _of_rows(*of).copy(),
    "put": lambda y, row, column, tile: _store(_of_rows(y, row, column, tile.size), tile),
    "zeros": lambda x, width: np.zeros(width, x.dtype),
    "filled": lambda x, width, number: np.full(width, number, x.dtype),
    "add_scaled": lambda total, factor, tile: total + total.dtype.type(factor) * tile,
    "add_products": lambda total, left, right: total + left * right,
    "conjugated": np.conj,
    "widened": lambda tile: tile.astype(np.result_type(tile.dtype, np.float64)),
    "line_at": lambda x, i: x[i : i + _line(x)].copy(),
    "put_line": lambda x, i, line: _store(x[i : i + line.size], line),
    "entries_of_line": _line,
    "spread": lambda x, value: np.full(_line(x), value, x.dtype),
    "plus": lambda left, right: left + right,
    "times": lambda left, right: left * right,
    "minus_product": _fma,
    "shifted_up": lambda before, line: np.append(before[-1:], line[:-1]),
    "shifted_down": lambda line, after: np.append(line[1:], after[:1]),
    "first_entries": _first,
}


@functools.cache
def interpreted(function):
    """The same function, whose words and helpers Python can run."""
    known = {}
    made = types.FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    for name, value in function.__globals__.items():
        if value in words.WORDS if inspect.isfunction(value) else False:
            known[name] = OF_WORDS[words.WORDS[value]]
        elif inspect.isfunction(value) and name in function.__code__.co_names and value not in LOOPS:
            known[name] = interpreted(value)
        else:
            known[name] = value
    return made


LOOPS = words.threads, words.shared, words.unrolled


def function_of(kernel):
    """The Python function of a kernel, hand-written or printed, with its constants."""
    if kernel.py_func is not None:
        return functools.partial(interpreted(kernel.py_func), **{n: _callable(v) for n, v in kernel.source.constants})
    space = {**compiled.VOCABULARY, "threads": words.threads, "shared": words.shared}
    space["total"] = interpreted(space["total"])
    space |= {name: OF_WORDS[name] for name in space if name in OF_WORDS}
    exec(kernel.source.text, space)
    return space["kernel"]


def _callable(constant):
    """A dtype as the function that it is in kernels."""
    return constant.type if isinstance(constant, np.dtype) else constant


def run(kernel, arguments, threads=1):
    """Run a kernel by Python on these arguments."""
    with np.errstate(all="ignore"):
        function_of(kernel)(counters(threads), *arguments)


def copied(argument, roots=None):
    """The same arguments, in memory of their own; arrays that share memory share it here too."""
    roots = {} if roots is None else roots
    if isinstance(argument, tuple):
        return tuple(copied(each, roots) for each in argument)
    if not isinstance(argument, np.ndarray):
        return argument
    root = argument
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not root.flags.c_contiguous:
        return argument.copy()
    if id(root) not in roots:
        roots[id(root)] = root, bytearray(root.tobytes())
    place = argument.ctypes.data - root.ctypes.data
    # In registers integers have a sign; those of NumPy without one become fractions next to others.
    dtype = np.dtype(np.int64) if argument.dtype == np.uint64 else argument.dtype
    return np.ndarray(argument.shape, dtype, roots[id(root)][1], place if argument.size else 0)


def arrays(arguments):
    """The arrays among arguments."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from arrays(argument)
        elif isinstance(argument, np.ndarray):
            yield argument
