"""Kernels: numba functions whose machine code comes from a cache on disk, from a compiling process, or from this one.

LLVM never frees memory: a process that compiles grows by some megabytes a kernel. So kernels that are not in the cache
are compiled by a separate process (`compiler`), several in parallel, which returns only machine code. Where such a
process cannot be started, or fails, the kernel is compiled in this process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core.registry import CPUDispatcher

from workbench import compiling
from workbench.jit import (
    cache_lines,
    compiler,
    dot_sums,
    elements,
    objects,
    outlining,
    portable,
    store,
    thread_pool,
    tiles,
    work_stealing,
)

REORDERED = {"reassoc", "contract", "nsz"}
"""LLVM's licences for sums: reassociate, contract to fused multiply-add, ignore the sign of zero."""
GENERATED = "lines_"
WARM_UP = """
def kernel(taken, x):
    n = x.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, n):
            part = x[max(chunk, 1):min(chunk, n, 2)]
            for i in range(min(chunk, n), max(chunk, n, 2)):
                part[i] += np.conj(np.float64(x[i]))
"""
"""The common part of most kernels, compiled once by a compiling process so that later kernels take less time."""

_loading = threading.RLock()
_generated: dict[str, Kernel] = {}
_unsettled: dict[tuple[Kernel, tuple], None] = {}
"""Kernels and types requested and not linked yet, in order of request."""


class Source(NamedTuple):
    """The source of a kernel: `text`, or if that is empty the function `name` of the module."""

    module: str
    name: str
    text: str
    options: tuple[tuple[str, Any], ...]


class Kernel(CPUDispatcher):
    """A function that is compiled for the types of its arguments; calls choose the code by type, as with njit."""

    def __init__(self, function: Callable[..., None], source: Source) -> None:
        super().__init__(function, targetoptions={"nopython": True, "nogil": True, "boundscheck": None})
        self.source = source
        self._coming: dict[tuple, Future[bytes]] = {}

    def prepare(self, kinds: tuple) -> None:
        """Load the code for these types, or have it compiled in the background."""
        with _loading:
            if kinds in self.overloads or kinds in self._coming:
                return
            code = store.read(self._key(kinds))
            if code is None or not self._link(kinds, code):
                self._coming[kinds] = self._ask(kinds)
                _unsettled[self, kinds] = None

    def compile(self, sig: Any) -> Any:
        """The code for these types; waits for it where it is still being compiled."""
        kinds = tuple(sig)
        with _loading:
            self.prepare(kinds)
            coming = self._coming.get(kinds)
        # Without the lock, so that other threads can load. After an interrupt the next caller takes the result.
        code = b"" if coming is None else compiling.wait(coming)
        with _loading:
            try:
                if kinds not in self.overloads and not (code and self._link(kinds, code)):
                    self._compile_here(kinds)
            # Also where that raises: `settle` must not raise the same again for another solve.
            finally:
                self._coming.pop(kinds, None)
                _unsettled.pop((self, kinds), None)
            return self.overloads[kinds].entry_point

    def forget(self, kinds: tuple) -> None:
        """Drop a pending request: in a forked process its answer never arrives."""
        self._coming.pop(kinds, None)

    def built(self) -> Any:
        """The same function for numba's compiler, its parallel loop outlined."""
        return build(self.source, self.py_func)

    def _ask(self, kinds: tuple) -> Future[bytes]:
        """The code for these types; it is stored on disk, where possible, before the future resolves."""
        key, coming = self._key(kinds), Future()

        def keep(done: Future[bytes]) -> None:
            try:
                if done.result():
                    store.write(key, done.result())
            finally:
                coming.set_result(done.result())

        compiler.compile_elsewhere(self.source, kinds).add_done_callback(keep)
        return coming

    def _compile_here(self, kinds: tuple) -> None:
        portable.linker()
        built = self.built()
        with compiling.here(at_once=True):
            built.compile(kinds)
        compiled = built.overloads[kinds]
        self.add_overload(compiled)
        with contextlib.suppress(portable.NotPortableError):
            store.write(self._key(kinds), portable.portable(compiled))

    def _link(self, kinds: tuple, code: bytes) -> bool:
        try:
            entry = portable.link(code)
        # Any failure: compile instead.
        except Exception:
            return False
        self.add_overload(_Linked(numba.void(*kinds), entry))  # pyright: ignore[reportArgumentType]
        return True

    def _key(self, kinds: tuple) -> str:
        text = "\n".join((*_environment(), *map(str, self.source), _text_of(self.source.module), repr(kinds)))
        return hashlib.sha256(text.encode()).hexdigest()


class _Linked(NamedTuple):
    """The attributes by which numba calls code that it did not compile."""

    signature: Any
    entry_point: Any
    objectmode: bool = False


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorator of the kernels of a module. options: `fastmath` and `error_model` of numba."""

    def decorate(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, Source(function.__module__, function.__name__, "", _sorted(options)))

    return decorate


def generated(text: str) -> Kernel:
    """The kernel that a text defines under the name `kernel`; one text is one kernel."""
    with _loading:
        if text not in _generated:
            name = GENERATED + hashlib.sha256(text.encode()).hexdigest()[:24]
            namespace: dict[str, Any] = {"__name__": name, "np": np, **_vocabulary()}
            exec(compile(text, name, "exec"), namespace)
            options = _sorted({"error_model": "numpy", "fastmath": REORDERED})
            _generated[text] = Kernel(namespace["kernel"], Source(name, "kernel", text, options))
        return _generated[text]


def build(source: Source, function: Callable[..., Any] | None = None) -> Any:
    """A function for numba's compiler from its source; function: its Python function, where that is known."""
    if source.text:
        text, file, line = source.text, source.module, 0
        # Numba finds modules by name.
        module = sys.modules.setdefault(source.module, types.ModuleType(source.module))
        namespace = vars(module) | {"np": np}
    else:
        function = function or getattr(importlib.import_module(source.module), source.name).py_func
        assert function is not None
        lines, line = inspect.getsourcelines(function)
        text, file, namespace = "".join(lines), inspect.getsourcefile(function) or "", dict(function.__globals__)
    tree = outlining.outlined(text, source.name)
    for node in tree.body:
        outlining.ast.increment_lineno(node, max(0, line - 1))
    namespace |= _vocabulary() | {outlining.ACROSS: thread_pool.across}
    exec(compile(tree, file, "exec"), namespace)
    jit: Any = njit
    # Numba takes a set; in `source` it is sorted, so that its text is reproducible.
    options = {name: set(value) if name == "fastmath" else value for name, value in source.options} | {"nogil": True}
    # Kernels are called from Python and never from C, their inner functions from neither.
    options["no_cfunc_wrapper"] = True
    if outlining.WORK in namespace:
        inner = options | {"no_cpython_wrapper": True}
        namespace[outlining.WORK] = jit(**inner)(namespace[outlining.WORK])
    return jit(**options)(namespace[source.name])


def compiled_bytes(source: Source, kinds: tuple) -> bytes:
    """The machine code of a kernel for these types. Raises errors of numba, and NotPortableError."""
    portable.pretend_threads()
    built = build(source)
    built.compile(kinds)
    return portable.portable(built.overloads[kinds])


def settle() -> None:
    """Wait until all requested kernels are linked."""
    for waiting, kinds in tuple(_unsettled):
        waiting.compile(kinds)


def warm_up() -> None:
    """Prepare a process that compiles kernels and runs none; compiling a first small one takes 1 s."""
    portable.pretend_threads()
    objects.compile_only(portable.context())
    generated(WARM_UP).built().compile((numba.types.Array(numba.types.int64, 2, "C"), numba.types.float64[::1]))


def _vocabulary() -> dict[str, Any]:
    return {"shared": work_stealing.shared, "threads": work_stealing.threads, **tiles.WORDS, **elements.WORDS}


def _sorted(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    plain = [(name, tuple(sorted(value)) if isinstance(value, set) else value) for name, value in options.items()]
    return tuple(sorted(plain))


@functools.cache
def _text_of(module: str) -> str:
    """The source of a module whose kernels it defines; a generated kernel is its own text."""
    return "" if module.startswith(GENERATED) else inspect.getsource(sys.modules[module])


@functools.cache
def _environment() -> tuple[str, ...]:
    """Everything that machine code depends on in addition to its text and types: versions, processor, options."""
    codegen = portable.context().codegen()
    support = (work_stealing, tiles, elements, cache_lines, dot_sums, thread_pool, objects, outlining, portable)
    texts = [inspect.getsource(module) for module in (*support, sys.modules[__name__])]
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, repr(codegen.magic_tuple()))
    # Options of numba that shape code, such as NUMBA_OPT or NUMBA_BOUNDSCHECK.
    dull = ("NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY")
    options = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    return (*texts, *versions, *(option for option in options if option.partition("=")[0] not in dull))


def _forked() -> None:
    """Reset in a forked process, which has neither the thread that held the lock nor the one that receives answers."""
    global _loading
    _loading = threading.RLock()
    for waiting, kinds in _unsettled:
        waiting.forget(kinds)
    _unsettled.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
