"""Object files of kernels as functions of this process, by LLVM's linker and ctypes."""

from __future__ import annotations

import ctypes
import functools
import itertools
import pickle
import struct
import sys
from collections.abc import Callable
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np

from workbench.compiler.kinds import BOOL, DOUBLE, FLOAT, INT
from workbench.errors import InputError
from workbench.jit import launching
from workbench.jit.c_abi import LAUNCH, Kinds, leaves
from workbench.jit.launching import (
    BYTES,
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
Launch = Callable[[np.ndarray, tuple[object, ...]], int]
"""The code of a kernel: takes the array of what is taken, and the arguments."""


class Linked(NamedTuple):
    """The code of a kernel for arguments of some types. address: of `launch` of `c_abi`. words: the bytes of the
    numbers among the arguments, None where one has another type."""

    launch: Launch
    address: int
    words: Callable[[tuple[object, ...]], bytes | None]


_LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.py_object, ctypes.py_object)
OF_KINDS = {
    INT: frozenset((int, *(np.dtype(letter).type for letter in np.typecodes["AllInteger"]))),
    BOOL: frozenset((bool, np.bool_)),
    FLOAT: frozenset((np.float32,)),
    DOUBLE: frozenset((float, np.float64)),
    np.dtype(np.complex64): frozenset((np.complex64,)),
    np.dtype(np.complex128): frozenset((complex, np.complex128)),
}
"""Types of the numbers of each kind."""
FORMATS = {
    INT: "q",
    BOOL: "?7x",
    FLOAT: "f4x",
    DOUBLE: "d",
    np.dtype(np.complex64): "ff",
    np.dtype(np.complex128): "dd",
}
"""Formats of their words."""
_kept: list[llvm.ResourceTracker] = []
"""Libraries that LLVM has linked: it unloads those without a reference."""


def link(code: bytes, kinds: Kinds) -> Linked:
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
    address = linked[LAUNCH]
    launch = _LAUNCH(address)
    numbers = [(path, kind) for path, kind in leaves(kinds[1:]) if isinstance(kind, np.dtype)]
    if not numbers:
        return Linked(functools.partial(launch, b""), address, lambda _: b"")
    words_of = _reader(numbers)

    def with_numbers(taken: np.ndarray, arguments: tuple[object, ...]) -> int:
        try:
            words = words_of(arguments)
        # A tuple has another length, anything else is where it was, or an integer has more than 64 bits.
        except Exception:
            return WRONG_TYPES
        return launch(words, taken, arguments) if words else WRONG_TYPES

    return Linked(with_numbers, address, words_of)


@functools.cache
def linker() -> llvm.LLJIT:
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
    """True if the structs of an array, of a tuple and of bytes have their fields where `launching` reads them."""

    def words(address: int, place: int, count: int = 1) -> list[int]:
        return list((ctypes.c_int64 * count).from_address(address + place))

    if ctypes.string_at(id(probe := bytes(range(1, 17))) + BYTES, 17) != probe + b"\0":
        return False
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


def plain(argument: object) -> object:
    """An argument as `launch` takes it: an array of NumPy's own class, or a number."""
    if isinstance(argument, np.ndarray):
        return argument if type(argument) is np.ndarray else argument.view(np.ndarray)
    return tuple(map(plain, argument)) if isinstance(argument, tuple) else argument


def _reader(places: list[tuple[tuple[int, ...], np.dtype]]) -> Callable[[tuple[object, ...]], bytes | None]:
    """A function that returns the words of the numbers at these places of the arguments, or None where one has another
    type. Raises struct.error for an integer of more than 64 bits.

    It is compiled, since a loop over the places would take as long as a launch.
    """
    read, tests, formats, names = [], [], "=", {}
    for k, (path, kind) in enumerate(places):
        value = "arguments" + "".join(f"[{place}]" for place in path)
        names[f"of_{k}"] = OF_KINDS[kind]
        tests.append(f"type(v_{k} := {value}) in of_{k}")
        read += [f"v_{k}.real", f"v_{k}.imag"] if kind.kind == "c" else [f"v_{k}"]
        formats += FORMATS[kind]
    names["pack"] = struct.Struct(formats).pack
    return eval(f"lambda arguments: pack({', '.join(read)}) if {' and '.join(tests)} else None", names)
