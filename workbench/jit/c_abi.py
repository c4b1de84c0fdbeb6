"""Machine code of a kernel as an object file of one C function, `launch`, made in the compiling process.

`launch(taken, arguments, ..)` has the Python objects of the counters of work stealing and of a tuple with all other
arguments of the kernel, and then the numbers in it as numbers of C, a complex one as two. It returns 0, the number of
threads on which the kernel failed, or WRONG_TYPES without having done anything if the arguments are not the arrays that
the kernel was compiled for. It needs no GIL, for the caller holds the objects.

The kernel is a function `worker(number, words)` of one thread, in the text that `workbench.compiler` prints. `launch`
around it is written in LLVM: one thread calls `worker` directly, several through the pool. Tuples and arrays are read
from their C structs, whose layout is part of the binary interfaces of Python and NumPy.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from workbench.compiler.kinds import real_of
from workbench.compiler.llvm import Argument, Layout
from workbench.jit import pool
from workbench.jit.argument_kinds import ArgumentKind, ArrayOf, leaves

LAUNCH, WORKER = "launch", "worker"
ARRAY, TUPLE = "workbench_ndarray", "workbench_tuple"
"""Symbols that the linking process gives the addresses of the classes numpy.ndarray and tuple."""
WRONG_TYPES = -1

WORD, BYTE, INT = ir.IntType(64), ir.IntType(8), ir.IntType(32)
HEAD, ITEMS = object.__basicsize__, tuple.__basicsize__
DATA, DIMENSIONS, SHAPE, STRIDES, DESCRIPTION, FLAGS = (HEAD + offset for offset in (0, 8, 16, 24, 40, 48))
"""Places in the struct of an array. The class of any object comes last in its head."""
LAYOUT = Layout(DATA, SHAPE)
KIND, ORDER, SIZE = (HEAD + offset for offset in (8, 10, 24))
"""Places in the struct of a dtype: its letter, the order of its bytes, their number."""
SWAPPED = np.dtype(np.int64).newbyteorder("S").byteorder
FLAG = {"C": 0x1, "aligned": 0x100, "writeable": 0x400}
Kinds = tuple[ArgumentKind, ...]


def places_of(kinds: Kinds) -> tuple[dict[tuple[int, ...], int], int]:
    """The word of each array and number, behind that of the threads that have not ended; the number of words."""
    places, count = {}, 1
    for path, kind in leaves(kinds):
        places[path] = count
        count += 2 if isinstance(kind, np.dtype) and kind.kind == "c" else 1
    return places, count


def arguments_of(kinds: Kinds) -> list[Argument]:
    """The arrays and numbers in the arguments, each with its word."""
    places, _ = places_of(kinds)
    return [
        Argument(kind.dtype, kind.ndim, places[path])
        if isinstance(kind, ArrayOf)
        else Argument(kind, None, places[path])
        for path, kind in leaves(kinds)
    ]


class Text(NamedTuple):
    """LLVM's text of a kernel, whose function `WORKER` it is, for arguments of these types. first: whether a call comes
    before those of the threads."""

    llvm: str
    kinds: Kinds
    first: bool


def object_file(text: Text) -> bytes:
    """The object file of a kernel, and the names of the symbols that it needs, as one byte string."""
    module, machine = llvm.parse_assembly(text.llvm), _machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.link_in(llvm.parse_assembly(str(_launch(text.kinds, first=text.first))))
    module.get_function(WORKER).linkage = "internal"
    level = llvm.create_pipeline_tuning_options(speed_level=3)
    level.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, level)
    passes.getModulePassManager().run(module, passes)
    wanted = [*module.functions, *module.global_variables]
    names = [part.name for part in wanted if part.is_declaration and not part.name.startswith("llvm.")]
    return pickle.dumps((names, machine.emit_object(module)))


def field(builder: Any, word: Any, place: int, kind: Any) -> Any:
    """The field of a struct whose address is a word."""
    return builder.load(builder.inttoptr(builder.add(word, ir.Constant(WORD, place)), kind.as_pointer()))


def _launch(kinds: Kinds, *, first: bool) -> ir.Module:
    """The module of `launch`."""
    places, count = places_of(kinds)
    module = ir.Module()
    words = WORD.as_pointer()
    work = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD, words]), WORKER)
    run = ir.FunctionType(ir.VoidType(), [work.type, words, WORD]).as_pointer()
    numbers = [part for _, kind in leaves(kinds) for part in _number_types(kind)]
    function = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD, *numbers]), LAUNCH)
    builder = ir.IRBuilder(function.append_basic_block())
    zero, one = (ir.Constant(WORD, value) for value in (0, 1))
    state = builder.alloca(WORD, count)
    taken, arguments, *_ = function.args
    builder.store(taken, builder.gep(state, [ir.Constant(WORD, places[0,])]))
    reading = _Reading(builder, state, places, iter(function.args[2:]))
    reading.read_tuple(arguments, kinds[1:], (), 1)
    shape = builder.inttoptr(field(builder, taken, SHAPE, WORD), words)
    threads, width = (builder.load(builder.gep(shape, [ir.Constant(WORD, k)])) for k in range(2))
    counters = builder.inttoptr(field(builder, taken, DATA, WORD), words)
    _for_each(builder, threads, lambda k: builder.store(zero, builder.gep(counters, [builder.mul(k, width)])))
    if first:
        builder.call(work, [ir.Constant(WORD, -1), state])
    builder.store(threads, state)
    with builder.if_else(builder.icmp_signed("==", threads, one)) as (alone, shared):
        with alone:
            builder.call(work, [zero, state])
        with shared:
            builder.call(builder.load(ir.GlobalVariable(module, run, pool.ENTRY)), [work, state, threads])
    builder.ret(builder.load(state))
    return module


def _for_each(builder: Any, count: Any, body: Callable[[Any], object]) -> None:
    """A loop over the integers below a count, which is not 0."""
    before, inside, after = builder.block, *(builder.append_basic_block(name) for name in ("each", "done"))
    builder.branch(inside)
    builder.position_at_end(inside)
    k = builder.phi(WORD)
    k.add_incoming(ir.Constant(WORD, 0), before)
    body(k)
    following = builder.add(k, ir.Constant(WORD, 1))
    k.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), inside, after)
    builder.position_at_end(after)


class _Reading:
    """The part of `launch` that tests the arguments and puts them into words."""

    def __init__(self, builder: Any, state: Any, places: dict[tuple[int, ...], int], numbers: Iterator[Any]) -> None:
        self._builder, self._state, self._places, self._numbers = builder, state, places, numbers
        self._array, self._tuple = (
            builder.ptrtoint(ir.GlobalVariable(builder.module, BYTE, name), WORD) for name in (ARRAY, TUPLE)
        )

    def read_tuple(self, word: Any, kinds: Kinds, path: tuple[int, ...], start: int = 0) -> None:
        """The arguments in a tuple; start: the index of its first one in `places`."""
        self._expect(word, HEAD - 8, WORD, self._tuple)
        self._expect(word, HEAD, WORD, len(kinds))
        for k, kind in enumerate(kinds):
            at = (*path, start + k)
            if isinstance(kind, tuple):
                self.read_tuple(field(self._builder, word, ITEMS + 8 * k, WORD), kind, at)
            elif isinstance(kind, ArrayOf):
                value = field(self._builder, word, ITEMS + 8 * k, WORD)
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

    def _expect_array(self, word: Any, kind: ArrayOf) -> None:
        """An array of this type, of no subclass."""
        flags = FLAG["C"] | FLAG["aligned"] | FLAG["writeable"] * kind.writeable
        self._expect(word, HEAD - 8, WORD, self._array)
        self._expect(word, DIMENSIONS, INT, kind.ndim)
        self._expect(word, FLAGS, INT, flags, mask=flags)
        description = field(self._builder, word, DESCRIPTION, WORD)
        self._expect(description, SIZE, WORD, kind.dtype.itemsize)
        self._expect(description, KIND, BYTE, ord(kind.dtype.kind))
        self._expect(description, ORDER, BYTE, ord(SWAPPED), relation="!=")

    def _expect(
        self, word: Any, place: int, kind: Any, value: Any, *, mask: int | None = None, relation: str = "=="
    ) -> None:
        """Return WRONG_TYPES unless the field of a struct has a value."""
        builder, found = self._builder, field(self._builder, word, place, kind)
        found = found if mask is None else builder.and_(found, ir.Constant(kind, mask))
        value = ir.Constant(kind, value) if isinstance(value, int) else value
        with builder.if_then(builder.not_(builder.icmp_signed(relation, found, value)), likely=False):
            builder.ret(ir.Constant(WORD, WRONG_TYPES))


def _number_types(kind: ArrayOf | np.dtype) -> list[Any]:
    """The LLVM types of a number as arguments of C; none for an array."""
    if isinstance(kind, ArrayOf):
        return []
    match kind.kind:
        case "c":
            return _number_types(real_of(kind)) * 2
        case "f":
            return [ir.DoubleType() if kind.itemsize == 8 else ir.FloatType()]
    return [ir.IntType(8 * kind.itemsize)]


@functools.cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(llvm.get_host_cpu_name(), features, opt=3, reloc="pic")
