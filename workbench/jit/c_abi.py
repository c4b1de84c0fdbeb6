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

import functools
import pickle
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np

from workbench.compiler.llvm import Argument, Layout
from workbench.jit import launching
from workbench.jit.argument_kinds import ArgumentKind, ArrayOf, leaves

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
