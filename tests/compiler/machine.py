"""Kernels by the compiler, run on the threads of this process."""

from __future__ import annotations

import numpy as np
from numba import types

from workbench.compiler import words
from workbench.compiler.kinds import INT, Array
from workbench.compiler.llvm import Argument, Layout, llvm_text
from workbench.compiler.reading import read_kernel
from workbench.compiler.source import source_of, source_of_text
from workbench.jit import c_abi, compiled, linking
from workbench.jit.work_stealing import counters


def total(partial, dots):
    """The sum over chunks, as kernels that are printed have it at their end."""
    for k in range(dots.size):
        dots[k] = 0
    for chunk in range(partial.shape[0]):
        for k in range(dots.size):
            dots[k] += partial[chunk, k]


VOCABULARY = {"np": np, "total": total} | {name: word for word, name in words.WORDS.items()}


def dtype_of(kind):
    """NumPy's name of a number of numba."""
    return np.dtype(str(kind).replace("boolean", "bool"))


def kind_of(kind):
    """What the compiler calls an argument."""
    if isinstance(kind, types.BaseTuple):
        return tuple(map(kind_of, kind))
    if isinstance(kind, types.Array):
        return Array(dtype_of(kind.dtype), kind.ndim, kind.mutable)
    dtype = dtype_of(kind)
    return INT if dtype.kind in "iu" else dtype


def printed(function, arguments, taken):
    """LLVM's text of a kernel, a function or a text, the types of its arguments, and whether statements come first."""
    kinds = compiled.kinds_of((taken, *arguments))
    source = source_of_text(function, "a text", VOCABULARY, ()) if isinstance(function, str) else source_of(function)
    made = read_kernel(source, tuple(map(kind_of, kinds[1:])))
    places, _ = c_abi.places_of(kinds)
    leaves = [
        Argument(dtype_of(kind.dtype), kind.ndim, places[path])
        if isinstance(kind, types.Array)
        else Argument(dtype_of(kind), None, places[path])
        for path, kind in c_abi.leaves(kinds)
    ]
    text = llvm_text(made, "worker", leaves, Layout(c_abi.DATA, c_abi.SHAPE))
    return text, kinds, bool(made.phases.first)


def launch(function, *arguments, threads=1):
    """Run a kernel."""
    taken = counters(threads)
    text, kinds, first = printed(function, arguments, taken)
    code = c_abi.object_file(c_abi.machine_module(text), "worker", kinds, first=first, optimized=False)
    assert linking.link(code, kinds)(taken, tuple(map(linking.plain, arguments))) == 0
