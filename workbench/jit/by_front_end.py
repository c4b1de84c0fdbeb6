"""The function of a kernel, made by `front_end`."""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba import types

from workbench.jit import front_end
from workbench.jit.by_threads import ByThreads
from workbench.jit.c_abi import DATA, SHAPE, WORD, field, machine_module, places_of
from workbench.jit.front_end.kinds import BIT, TRUTH, Array, in_memory, kind_of, parts_of

WORKER = "worker"


def worker(made: ByThreads, namespace: dict[str, Any], kinds: tuple, options: dict[str, Any], _file: str) -> Any:
    """The module and the name of the kernel's function. Raises UnsupportedError."""
    read = functools.partial(_parts, places=places_of(kinds)[0])
    text = front_end.worker(WORKER, made.function, namespace, kind_of(types.Tuple(kinds)), read, options)
    return machine_module(str(text)), WORKER


def _parts(
    builder: Any, words: Any, kind: Any, path: tuple[int, ...] = (), *, places: dict[tuple[int, ...], int]
) -> list[Any]:
    """The parts of an argument, or of a tuple of them, from the words of `launch`."""
    if isinstance(kind, tuple) and not isinstance(kind, Array):
        return [part for k, each in enumerate(kind) for part in _parts(builder, words, each, (*path, k), places=places)]
    word = builder.gep(words, [ir.Constant(WORD, places[path])])
    if isinstance(kind, Array):
        array = builder.load(word)
        shape = builder.inttoptr(field(builder, array, SHAPE, WORD), WORD.as_pointer())
        lengths = [builder.load(builder.gep(shape, [ir.Constant(WORD, k)])) for k in range(kind.ndim)]
        return [builder.inttoptr(field(builder, array, DATA, WORD), parts_of(kind)[0]), *lengths]
    first = builder.bitcast(word, in_memory(kind).as_pointer())
    parts = [builder.load(builder.gep(first, [ir.Constant(WORD, k)])) for k in range(len(parts_of(kind)))]
    return [builder.trunc(parts[0], BIT)] if kind == TRUTH else parts
