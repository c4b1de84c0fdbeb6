"""Machine code of a kernel as an object file of one C function, `launch`, made in the compiling process.

`launch(numbers, taken, arguments)` has the Python objects of the counters of work stealing, of a tuple with all other
arguments of the kernel, and of bytes with the numbers in that: each begins a word, and a complex one has its real part
first. It returns 0, the number of
threads on which the kernel failed, or WRONG_TYPES without having done anything if the arguments are not the arrays that
the kernel was compiled for. It needs no GIL, for the caller holds the objects.

The kernel is a function `worker(number, words)` of one thread, in the text that `workbench.compiler` prints. `launch`
has the memory for the words and a table of the arguments, and leaves the rest to `launching`, code that all kernels
share.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from workbench.compiler.kinds import DTYPES, INT, Array, KernelError, Kind
from workbench.compiler.llvm import Argument, Layout
from workbench.jit import launching

NUMBERS = bool, int, float, complex, np.generic


@dataclasses.dataclass(frozen=True)
class ArrayOf:
    """A contiguous array, row by row, of aligned numbers in this machine's order of bytes."""

    dtype: np.dtype
    ndim: int
    writeable: bool


ArgumentKind = ArrayOf | np.dtype | tuple["ArgumentKind", ...]
_known: dict[object, ArgumentKind] = {}


def kinds_of(arguments: tuple[object, ...]) -> tuple[ArgumentKind, ...]:
    """The kinds of arguments. Raises KernelError for what kernels do not take."""
    return tuple(map(_kind_of, arguments))


def in_registers(kind: ArgumentKind) -> Kind:
    """The kind of the compiler for an argument of this kind."""
    match kind:
        case ArrayOf(dtype, ndim, writeable):
            return Array(dtype, ndim, writeable)
        case tuple():
            return tuple(map(in_registers, kind))
    return INT if kind.kind in "iu" else kind


def leaves(
    kinds: tuple[ArgumentKind, ...], path: tuple[int, ...] = (), start: int = 0
) -> list[tuple[tuple[int, ...], ArrayOf | np.dtype]]:
    """The kinds of arrays and numbers, with the index of each, and of those in tuples of each step. start: the index of
    the first."""
    found: list[tuple[tuple[int, ...], ArrayOf | np.dtype]] = []
    for k, kind in enumerate(kinds, start):
        found += leaves(kind, (*path, k)) if isinstance(kind, tuple) else [((*path, k), kind)]
    return found


def _kind_of(argument: object) -> ArgumentKind:
    if isinstance(argument, tuple):
        return kinds_of(argument)
    if isinstance(argument, np.ndarray):
        # A kind is made once, since a launch of a new kernel asks for many.
        key = argument.dtype, argument.ndim, argument.flags.num
    elif isinstance(argument, NUMBERS):
        key = type(argument)
        if isinstance(argument, int | np.integer) and not -(2**63) <= argument < 2**63:
            raise KernelError(f"kernels take integers from -2^63 to 2^63 - 1, not {argument}")
    else:
        raise KernelError(f"kernels take arrays, numbers and tuples of them, not a {type(argument).__name__}")
    if key not in _known:
        _known[key] = _array(argument) if isinstance(argument, np.ndarray) else _number(argument)
    return _known[key]


def _array(array: np.ndarray) -> ArrayOf:
    _check(array.dtype)
    if not array.flags.c_contiguous or not array.flags.aligned or not array.ndim:
        raise KernelError("kernels take arrays without gaps, row by row; copy this one by np.ascontiguousarray")
    return ArrayOf(array.dtype, array.ndim, array.flags.writeable)


def _number(number: Any) -> np.dtype:
    dtype = number.dtype if isinstance(number, np.generic) else np.dtype({int: "i8"}.get(type(number), type(number)))
    _check(dtype)
    # A narrower one would cut off the number of a later launch.
    return INT if dtype.kind in "iu" else dtype


def _check(dtype: np.dtype) -> None:
    if dtype not in DTYPES or not dtype.isnative:
        raise KernelError(f"numbers of the dtype {dtype} are not supported in kernels")


LAUNCH, WORKER, TABLE = "launch", "worker", "workbench_table"
LAYOUT = Layout(launching.DATA, launching.SHAPE)
Kinds = tuple[ArgumentKind, ...]


def places_of(kinds: Kinds) -> tuple[dict[tuple[int, ...], int], int]:
    """The word of each array and number, behind that of the threads that have not ended; the number of words."""
    places, count = {}, 1
    for path, kind in leaves(kinds):
        places[path] = count
        count += word_count(kind) if isinstance(kind, np.dtype) else 1
    return places, count


def word_count(number: np.dtype) -> int:
    """Words of a number among the arguments."""
    return -(-number.itemsize // 8)


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
    machine = _machine()
    module = llvm.parse_assembly(text.llvm + _launch(text.kinds, first=text.first))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.get_function(WORKER).linkage = "internal"
    level = llvm.create_pipeline_tuning_options(speed_level=3)
    level.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, level)
    passes.getModulePassManager().run(module, passes)
    wanted = [*module.functions, *module.global_variables]
    names = [part.name for part in wanted if part.is_declaration and not part.name.startswith("llvm.")]
    return pickle.dumps((names, machine.emit_object(module)))


def _launch(kinds: Kinds, *, first: bool) -> str:
    """The text of `launch`."""
    places, count = places_of(kinds)
    words = [
        places[path] + word
        for path, kind in leaves(kinds[1:], start=1)
        if isinstance(kind, np.dtype)
        for word in range(word_count(kind))
    ]
    table = [int(first), *_described(kinds[1:], places), len(words), *words]
    listed = ", ".join(f"i64 {word}" for word in table)
    return f"""
@{TABLE} = internal constant [{len(table)} x i64] [{listed}]
declare i64 @{launching.START}(ptr, ptr, ptr, ptr, ptr, ptr)
define i64 @{LAUNCH}(ptr %numbers, ptr %taken, ptr %arguments) {{
  %state = alloca [{count} x i64]
  %failed = call i64 @{launching.START}(
    ptr %numbers, ptr %taken, ptr %arguments, ptr @{TABLE}, ptr %state, ptr @{WORKER})
  ret i64 %failed
}}
"""


def _described(
    kinds: Kinds, places: dict[tuple[int, ...], int], path: tuple[int, ...] = (), start: int = 1
) -> list[int]:
    """A tuple of arguments in the table of `launching`. start: the index of its first one in `places`."""
    table = [len(kinds)]
    for k, kind in enumerate(kinds, start):
        match kind:
            case tuple():
                table += [launching.TUPLE, *_described(kind, places, (*path, k), 0)]
            case ArrayOf(dtype, ndim, writeable):
                flags = sum(launching.FLAG[name] for name in ("C", "aligned", *["writeable"] * writeable))
                table += [launching.ARRAY, ndim, flags, dtype.itemsize, ord(dtype.kind), places[*path, k]]
            case _:
                table.append(launching.NUMBER)
    return table


@functools.cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(llvm.get_host_cpu_name(), features, opt=3, reloc="pic")
