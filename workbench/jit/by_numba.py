"""The function of a kernel, made by numba as a C callback; it takes four times as long as by `front_end`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from workbench.jit.by_threads import ARGUMENTS, LAST, ByThreads
from workbench.jit.c_abi import DATA, SHAPE, STRIDES, WORD, field, places_of

ALLOCATES = re.compile(r"NRT_(MemInfo_)?(Allocate|[Aa]lloc)")
UNREACHED = re.compile(r"NRT_|numba_|Py(?!Exc_)")
"""What the branches of an exception call, which ends here as a kernel that failed, and the release of arrays that a
kernel allocated, which none does."""


def worker(made: ByThreads, namespace: dict[str, Any], kinds: tuple, options: dict[str, Any], file: str) -> Any:
    """The module, optimized, and the name of the kernel's function.

    Raises errors of numba, and RuntimeError where the kernel allocates memory.
    """
    places, _ = places_of(kinds)
    namespace = namespace | {ARGUMENTS: _arguments(types.Tuple(kinds), places), LAST: last}
    exec(compile(made.module, file, "exec"), namespace)
    words = types.CPointer(types.int64)
    callback: Any = numba.cfunc
    # Numba takes a set; in the source of a kernel it is sorted, so that its text is reproducible.
    options = {name: set(value) if name == "fastmath" else value for name, value in options.items()}
    found = callback(types.void(words, words, words, words), nopython=True, **options)(namespace[made.name])
    module = llvm.parse_assembly(found.inspect_llvm())
    declared = [part for part in module.functions if part.is_declaration]
    if any(ALLOCATES.match(part.name) for part in declared):
        raise RuntimeError(f"kernel {made.name} allocates memory; give it the array as an argument")
    for part in [*module.functions, *module.global_variables]:
        if not part.is_declaration:
            part.linkage = "internal" if part.name != found.native_name else "external"
    unreached = {part.name: str(part) for part in declared if UNREACHED.match(part.name)}
    for name, declaration in unreached.items():
        module.link_in(llvm.parse_assembly(_empty(declaration)))
        module.get_function(name).linkage = "internal"
    return module, found.native_name


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
    lists = [builder.inttoptr(field(builder, word, place, WORD), WORD.as_pointer()) for place in (SHAPE, STRIDES)]
    shape, strides = (
        [builder.load(builder.gep(each, [ir.Constant(WORD, k)])) for k in range(kind.ndim)] for each in lists
    )
    array.data = builder.inttoptr(field(builder, word, DATA, WORD), array.data.type)
    array.shape, array.strides = (cgutils.pack_array(builder, each, ty=WORD) for each in (shape, strides))
    array.nitems = functools.reduce(builder.mul, shape, ir.Constant(WORD, 1))
    array.itemsize = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


def _empty(declaration: str) -> str:
    """A definition for a declared function of LLVM: it does nothing and returns zero."""
    found = re.search(r"^declare (.*?)(\S+) @", declaration, re.MULTILINE)
    assert found is not None
    returned = "ret void" if found[2] == "void" else f"ret {found[2]} zeroinitializer"
    head = re.sub(r" #\d+$", "", declaration.strip()).replace("declare", "define", 1)
    return f"{head} {{\n  {returned}\n}}\n"
