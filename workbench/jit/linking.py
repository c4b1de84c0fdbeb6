"""Object files of kernels as functions of this process, by LLVM's linker and ctypes."""

from __future__ import annotations

import ctypes
import functools
import itertools
import pickle
import sys
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from workbench.compiler.kinds import BOOL, DOUBLE, FLOAT, INT, real_of
from workbench.errors import InputError
from workbench.jit import launching
from workbench.jit.argument_kinds import leaves
from workbench.jit.c_abi import LAUNCH, Kinds
from workbench.jit.launching import (
    DATA,
    DESCRIPTION,
    DIMENSIONS,
    FLAG,
    FLAGS,
    HEAD,
    KIND,
    ORDER,
    SHAPE,
    SIZE,
    START,
    STRIDES,
    WRONG_TYPES,
)

_counter = itertools.count()
IMPLIED = ("memcpy", "memmove", "memset")
"""Functions that the code generator calls for what a module only describes."""
LEAST, MOST = -(2**63), 2**63 - 1
"""Integers of kernels."""
OF_KINDS = {
    INT: frozenset((int, *(np.dtype(letter).type for letter in np.typecodes["AllInteger"]))),
    BOOL: frozenset((bool, np.bool_)),
    FLOAT: frozenset((np.float32,)),
    DOUBLE: frozenset((float, np.float64)),
    np.dtype(np.complex64): frozenset((np.complex64,)),
    np.dtype(np.complex128): frozenset((complex, np.complex128)),
}
"""Types of the numbers of each kind."""
_kept: list[Any] = []
"""What LLVM has linked: without a reference it would be unloaded."""


def link(code: bytes, kinds: Kinds) -> Callable[[np.ndarray, tuple], int]:
    """The function `launch(taken, arguments)` of an object file for arguments of these types (see `c_abi`).

    The code must be from this machine. Raises RuntimeError where it needs a symbol that this process does not have.
    """
    names, machine_code = pickle.loads(code)
    library = llvm.JITLibraryBuilder().add_object_img(machine_code).export_symbol(LAUNCH)
    compiler = linker()
    for name in {*names, *IMPLIED}:
        address = launching.linked(compiler)[START] if name == START else llvm.address_of_symbol(name)
        if not address:
            raise RuntimeError(f"a kernel needs {name}, which this process does not have")
        library.import_symbol(name, address)
    linked = library.link(compiler, f"kernel {next(_counter)}")
    _kept.append(linked)
    numbers = [(path, kind) for path, kind in leaves(kinds[1:]) if isinstance(kind, np.dtype)]
    parts = [part for _, kind in numbers for part in _c_types(kind)]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.py_object, *parts)(linked[LAUNCH])
    if not numbers:
        return function
    numbers_of = _reader(numbers)

    def with_numbers(taken: np.ndarray, arguments: tuple) -> int:
        try:
            given = numbers_of(arguments)
        # A tuple has another length, or anything else is where it was.
        except Exception:
            return WRONG_TYPES
        return function(taken, arguments, *given) if given else WRONG_TYPES

    return with_numbers


@functools.cache
def linker() -> Any:
    """LLVM's linker. Raises InputError where kernels cannot read arrays and tuples."""
    probe = np.zeros((2, 3)), 0.0
    if not is_laid_out(*probe):
        raise InputError(
            f"kernels do not know how Python {sys.version.split()[0]} and NumPy {np.__version__} lay out arrays and "
            "tuples; install CPython and the NumPy of constraints.txt"
        )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler()


def is_laid_out(array: np.ndarray, number: float) -> bool:
    """Whether the structs of an array and of a tuple have their fields where `launch` reads them."""

    def words(address: int, place: int, count: int = 1) -> list[int]:
        return list((ctypes.c_int64 * count).from_address(address + place))

    pair = array, number
    if words(id(pair), HEAD - 8, 4) != [id(tuple), len(pair), id(array), id(number)]:
        return False
    (shape,), (strides,) = (words(id(array), place) for place in (SHAPE, STRIDES))
    dimensions, flags = (ctypes.c_int32.from_address(id(array) + place).value for place in (DIMENSIONS, FLAGS))
    known = FLAG["C"] | FLAG["aligned"] | FLAG["writeable"]
    if words(id(array), DATA) != [array.ctypes.data] or dimensions != array.ndim or flags & known != known:
        return False
    if words(shape, 0, array.ndim) != list(array.shape) or words(strides, 0, array.ndim) != list(array.strides):
        return False
    (dtype,) = words(id(array), DESCRIPTION)
    letters = ctypes.string_at(dtype + KIND, 1) + ctypes.string_at(dtype + ORDER, 1)
    return dtype == id(array.dtype) and letters == b"f=" and words(dtype, SIZE) == [array.itemsize]


def plain(argument: Any) -> Any:
    """An argument as `launch` takes it: an array of NumPy's own class, or a number."""
    if isinstance(argument, np.ndarray):
        return argument.view(np.ndarray)
    return tuple(map(plain, argument)) if isinstance(argument, tuple) else argument


def _reader(places: list[tuple[tuple[int, ...], np.dtype]]) -> Callable[[tuple], tuple | None]:
    """A function that returns the numbers at these places of the arguments, a complex one as two, or None where one has
    another type: ctypes would convert it, 1.5 to a float32 or 2**64 to 0.

    It is compiled, since a loop over the places would take as long as a launch.
    """
    read, tests, names = [], [], {}
    for k, (path, kind) in enumerate(places):
        value = "arguments" + "".join(f"[{place}]" for place in path)
        names[f"of_{k}"] = OF_KINDS[kind]
        tests.append(f"type(v_{k} := {value}) in of_{k}" + f" and {LEAST} <= v_{k} <= {MOST}" * (kind == INT))
        read += [f"v_{k}.real", f"v_{k}.imag"] if kind.kind == "c" else [f"v_{k}"]
    return eval(f"lambda arguments: ({', '.join(read)},) if {' and '.join(tests)} else None", names)


def _c_types(kind: np.dtype) -> list[Any]:
    return [np.ctypeslib.as_ctypes_type(real_of(kind))] * (2 if kind.kind == "c" else 1)
