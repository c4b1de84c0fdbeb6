"""Machine code of a kernel as an object file of one C function, `launch`, made in the compiling process.

`launch(taken, arguments, ..)` has the Python objects of the counters of work stealing and of a tuple with all other
arguments of the kernel, and then the numbers in it as numbers of C, a complex one as two. It returns 0, the number of
threads on which the kernel failed, or WRONG_TYPES without having done anything if the arguments are not the arrays that
the kernel was compiled for. It needs no GIL, for the caller holds the objects.

Numba compiles the kernel as a C callback with the arguments of its thread pool, `worker(first, count, step, words)`.
`launch` around it is written in LLVM: one thread calls `worker` directly, several through the pool. Tuples and arrays
are read from their C structs, whose layout is part of the binary interfaces of Python and NumPy. Only public interfaces
of numba and llvmlite occur, so that the same text serves their versions.
"""

from __future__ import annotations

import functools
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.jit.by_threads import ARGUMENTS, LAST, ByThreads

LAUNCH = "launch"
ARRAY, TUPLE = "workbench_ndarray", "workbench_tuple"
"""Symbols that the linking process gives the addresses of the classes numpy.ndarray and tuple."""
POOL = "numba_parallel_for"
"""The parallel loop of numba's threading layers (OpenMP, TBB, workqueue)."""
WRONG_TYPES = -1
ALLOCATES = re.compile(r"NRT_(MemInfo_)?(Allocate|[Aa]lloc)")
UNREACHED = re.compile(r"NRT_|numba_|Py(?!Exc_)")
"""What the branches of an exception call, which ends here as a kernel that failed, and the release of arrays that a
kernel allocated, which none does."""

WORD, BYTE, INT, POINTER = ir.IntType(64), ir.IntType(8), ir.IntType(32), ir.IntType(8).as_pointer()
HEAD, ITEMS = object.__basicsize__, tuple.__basicsize__
DATA, DIMENSIONS, SHAPE, STRIDES, DESCRIPTION, FLAGS = (HEAD + offset for offset in (0, 8, 16, 24, 40, 48))
"""Places in the struct of an array. The class of any object comes last in its head."""
KIND, ORDER, SIZE = (HEAD + offset for offset in (8, 10, 24))
"""Places in the struct of a dtype: its letter, the order of its bytes, their number."""
SWAPPED = np.dtype(np.int64).newbyteorder("S").byteorder
FLAG = {"C": 0x1, "F": 0x2, "A": 0, "aligned": 0x100, "writeable": 0x400}


def leaves(kinds: Any, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    """The types of arrays and numbers, with the index of each, and of those in tuples of each step."""
    parts = (
        leaves(kind, (*path, k)) if isinstance(kind, types.BaseTuple) else [((*path, k), kind)]
        for k, kind in enumerate(kinds)
    )
    return [leaf for part in parts for leaf in part]


def object_file(made: ByThreads, namespace: dict[str, Any], kinds: tuple, options: dict[str, Any], file: str) -> bytes:
    """The object file of a kernel, and the names of the symbols that it needs, as one byte string.

    Raises errors of numba, and RuntimeError where the kernel allocates memory.
    """
    places, count = {}, 1
    for path, kind in leaves(kinds):
        places[path] = count
        count += 2 if isinstance(kind, types.Complex) else 1
    namespace = namespace | {ARGUMENTS: _arguments(types.Tuple(kinds), places), LAST: last}
    exec(compile(made.module, file, "exec"), namespace)
    words = types.CPointer(types.int64)
    callback: Any = numba.cfunc
    worker = callback(types.void(words, words, words, words), nopython=True, **options)(namespace[made.name])
    module = llvm.parse_assembly(worker.inspect_llvm())
    declared = [part for part in module.functions if part.is_declaration]
    if any(ALLOCATES.match(part.name) for part in declared):
        raise RuntimeError(f"kernel {made.name} allocates memory; give it the array as an argument")
    for part in [*module.functions, *module.global_variables]:
        if not part.is_declaration:
            part.linkage = "internal" if part.name != worker.native_name else "external"
    module.link_in(llvm.parse_assembly(str(_launch(worker.native_name, kinds, places, count, first=made.first))))
    unreached = {part.name: str(part) for part in declared if UNREACHED.match(part.name)}
    for declaration in unreached.values():
        module.link_in(llvm.parse_assembly(_empty(declaration)))
    for name in (worker.native_name, *unreached):
        module.get_function(name).linkage = "internal"
    wanted = [*module.functions, *module.global_variables]
    names = [part.name for part in wanted if part.is_declaration and not part.name.startswith("llvm.")]
    return pickle.dumps((names, _machine().emit_object(module)))


@intrinsic
def last(_typing, state, count):
    """Whether these threads were the last that had not ended; sees what all others wrote."""

    def code(_context, builder, _signature, arguments):
        left = builder.atomic_rmw("sub", arguments[0], arguments[1], "acq_rel")
        return builder.icmp_signed("==", left, arguments[1])

    return types.boolean(state, types.int64), code


def _arguments(kinds: Any, places: dict[tuple[int, ...], int]) -> Callable[..., Any]:
    """An intrinsic that returns the arguments of a kernel, of the types of a tuple of numba, from its words."""

    @intrinsic
    def arguments(_typing, words):
        return kinds(words), lambda context, builder, _signature, values: read(context, builder, values[0], kinds, ())

    def read(context: Any, builder: Any, words: Any, kind: Any, path: tuple[int, ...]) -> Any:
        if isinstance(kind, types.BaseTuple):
            kinds: Any = kind
            parts = [read(context, builder, words, part, (*path, k)) for k, part in enumerate(kinds)]
            return context.make_tuple(builder, kind, parts)
        word = builder.gep(words, [ir.Constant(WORD, places[path])])
        if isinstance(kind, types.Array):
            return _array(context, builder, kind, builder.load(word))
        return context.unpack_value(builder, kind, builder.bitcast(word, context.get_data_type(kind).as_pointer()))

    return arguments


def _array(context: Any, builder: Any, kind: Any, word: Any) -> Any:
    """Numba's array from NumPy's, without reference counting, which all cores would contend for."""
    array = context.make_array(kind)(context, builder)
    lists = [builder.inttoptr(_field(builder, word, place, WORD), WORD.as_pointer()) for place in (SHAPE, STRIDES)]
    shape, strides = (
        [builder.load(builder.gep(each, [ir.Constant(WORD, k)])) for k in range(kind.ndim)] for each in lists
    )
    array.data = builder.inttoptr(_field(builder, word, DATA, WORD), array.data.type)
    array.shape, array.strides = (cgutils.pack_array(builder, each, ty=WORD) for each in (shape, strides))
    array.nitems = functools.reduce(builder.mul, shape, ir.Constant(WORD, 1))
    array.itemsize = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


def _field(builder: Any, word: Any, place: int, kind: Any) -> Any:
    """The field of a struct whose address is a word."""
    return builder.load(builder.inttoptr(builder.add(word, ir.Constant(WORD, place)), kind.as_pointer()))


def _launch(worker: str, kinds: tuple, places: dict[tuple[int, ...], int], count: int, *, first: bool) -> ir.Module:
    """The module of `launch`. count: words for the arguments and, in front of them, the threads that have not ended."""
    module = ir.Module()
    words = WORD.as_pointer()
    work = ir.Function(module, ir.FunctionType(ir.VoidType(), [words] * 4), worker)
    pool = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * 5 + [WORD] * 3), POOL)
    numbers = [part for _, kind in leaves(kinds) for part in _number_types(kind)]
    function = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD, *numbers]), LAUNCH)
    builder = ir.IRBuilder(function.append_basic_block())
    zero, one = (ir.Constant(WORD, value) for value in (0, 1))
    state = builder.alloca(WORD, count)
    taken, arguments, *_ = function.args
    builder.store(taken, builder.gep(state, [ir.Constant(WORD, places[0,])]))
    reading = _Reading(builder, state, places, iter(function.args[2:]))
    reading.read_tuple(arguments, kinds[1:], (), 1)
    shape = builder.inttoptr(_field(builder, taken, SHAPE, WORD), words)
    threads, width = (builder.load(builder.gep(shape, [ir.Constant(WORD, k)])) for k in range(2))
    counters = builder.inttoptr(_field(builder, taken, DATA, WORD), words)
    with cgutils.for_range(builder, threads) as loop:
        builder.store(zero, builder.gep(counters, [builder.mul(loop.index, width)]))
    begin, number, step = (builder.alloca(WORD) for _ in range(3))
    if first:
        builder.store(ir.Constant(WORD, -1), begin)
        builder.store(one, number)
        builder.call(work, [begin, number, step, state])
    for value, place in ((zero, begin), (threads, number), (one, step), (threads, state)):
        builder.store(value, place)
    with builder.if_else(builder.icmp_signed("==", threads, one)) as (alone, together):
        with alone:
            builder.call(work, [begin, number, step, state])
        with together:
            pointers = [builder.bitcast(pointer, POINTER) for pointer in (work, begin, number, step, state)]
            # The pool takes the first argument of each thread from a list of pointers: here it is its number.
            builder.call(pool, [*pointers, zero, one, threads])
    builder.ret(builder.load(state))
    return module


class _Reading:
    """The part of `launch` that tests the arguments and puts them into words."""

    def __init__(self, builder: Any, state: Any, places: dict[tuple[int, ...], int], numbers: Iterator[Any]) -> None:
        self._builder, self._state, self._places, self._numbers = builder, state, places, numbers
        self._array, self._tuple = (
            builder.ptrtoint(ir.GlobalVariable(builder.module, BYTE, name), WORD) for name in (ARRAY, TUPLE)
        )

    def read_tuple(self, word: Any, kinds: Any, path: tuple[int, ...], start: int = 0) -> None:
        """The arguments in a tuple; start: the index of its first one in `places`."""
        self._expect(word, HEAD - 8, WORD, self._tuple)
        self._expect(word, HEAD, WORD, len(kinds))
        for k, kind in enumerate(kinds):
            at = (*path, start + k)
            if isinstance(kind, types.BaseTuple):
                self.read_tuple(_field(self._builder, word, ITEMS + 8 * k, WORD), kind, at)
            elif isinstance(kind, types.Array):
                value = _field(self._builder, word, ITEMS + 8 * k, WORD)
                self._expect_array(value, kind)
                self._keep(value, self._places[at])
            else:
                for part in range(len(_number_types(kind))):
                    self._keep(next(self._numbers), self._places[at], part)

    def _keep(self, value: Any, place: int, part: int = 0) -> None:
        """Put a value at a word; part: how many of its kind come before."""
        word = self._builder.gep(self._state, [ir.Constant(WORD, place)])
        values = self._builder.bitcast(word, value.type.as_pointer())
        self._builder.store(value, self._builder.gep(values, [ir.Constant(WORD, part)]))

    def _expect_array(self, word: Any, kind: Any) -> None:
        """An array of this type, of no subclass."""
        dtype = np.dtype(str(kind.dtype).replace("boolean", "bool"))
        flags = FLAG[kind.layout] | FLAG["aligned"] * kind.aligned | FLAG["writeable"] * kind.mutable
        self._expect(word, HEAD - 8, WORD, self._array)
        self._expect(word, DIMENSIONS, INT, kind.ndim)
        self._expect(word, FLAGS, INT, flags, mask=flags)
        description = _field(self._builder, word, DESCRIPTION, WORD)
        self._expect(description, SIZE, WORD, dtype.itemsize)
        self._expect(description, KIND, BYTE, ord(dtype.kind))
        self._expect(description, ORDER, BYTE, ord(SWAPPED), relation="!=")

    def _expect(
        self, word: Any, place: int, kind: Any, value: Any, *, mask: int | None = None, relation: str = "=="
    ) -> None:
        """Return WRONG_TYPES unless the field of a struct has a value."""
        builder, found = self._builder, _field(self._builder, word, place, kind)
        found = found if mask is None else builder.and_(found, ir.Constant(kind, mask))
        value = ir.Constant(kind, value) if isinstance(value, int) else value
        with builder.if_then(builder.not_(builder.icmp_signed(relation, found, value)), likely=False):
            builder.ret(ir.Constant(WORD, WRONG_TYPES))


def _number_types(kind: Any) -> list[Any]:
    """The LLVM types of a number as arguments of C; none for an array."""
    if isinstance(kind, types.Array):
        return []
    if isinstance(kind, types.Complex):
        return _number_types(kind.underlying_float) * 2
    if isinstance(kind, types.Float):
        return [ir.DoubleType() if kind.bitwidth == 64 else ir.FloatType()]
    return [ir.IntType(8 if kind == types.boolean else kind.bitwidth)]


def _empty(declaration: str) -> str:
    """A definition for a declared function of LLVM: it does nothing and returns zero."""
    found = re.search(r"^declare (.*?)(\S+) @", declaration, re.MULTILINE)
    assert found is not None
    returned = "ret void" if found[2] == "void" else f"ret {found[2]} zeroinitializer"
    head = re.sub(r" #\d+$", "", declaration.strip()).replace("declare", "define", 1)
    return f"{head} {{\n  {returned}\n}}\n"


@functools.cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(llvm.get_host_cpu_name(), features, opt=3, reloc="pic")
