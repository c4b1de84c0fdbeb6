"""Kernels: functions whose machine code comes from a cache on disk, from a compiling process, or from this one.

LLVM never frees memory: a process that compiles grows by some megabytes a kernel. So kernels that are not in the cache
are compiled by a separate process (`compiler`), several in parallel, which returns only machine code. Where such a
process cannot be started, or fails, the kernel is compiled in this process.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba import njit as njit

from workbench import compiling
from workbench.jit import (
    by_front_end,
    by_numba,
    by_threads,
    c_abi,
    cache_lines,
    compiler,
    dependencies,
    dot_sums,
    elements,
    linking,
    store,
    tiles,
    work_stealing,
)
from workbench.jit.front_end import MODULES, UnsupportedError

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
"""The common part of most kernels."""
MAKERS = by_front_end, by_numba
"""What makes the function of a kernel, the fastest first."""

_loading = threading.RLock()
_generated: dict[str, Kernel] = {}
_kinds: dict[Any, Any] = {}
VALUELESS = (bool, float, complex, np.generic)
"""Of numbers whose numba type does not depend on their value, as that of an int does."""
_unsettled: dict[tuple[Kernel, tuple], None] = {}
"""Kernels and types requested and not linked yet, in order of request."""


class Source(NamedTuple):
    """The source of a kernel: `text`, or if that is empty the function `name` of the module."""

    module: str
    name: str
    text: str
    options: tuple[tuple[str, Any], ...]


class Kernel:
    """A function that is compiled for the types of its arguments, arrays and numbers; `py_func` is the Python function.

    run(taken, arguments) is the code of the latest launch, which tests the types and returns 0 once it has run.
    """

    def __init__(self, function: Callable[..., None], source: Source) -> None:
        self.py_func, self.source = function, source
        self._coming: dict[tuple, Future[bytes]] = {}
        self._linked: dict[tuple, Callable[[np.ndarray, tuple], int]] = {}
        self.run: Callable[[np.ndarray, tuple], int] = _not_loaded

    def run_other(self, taken: np.ndarray, arguments: tuple, failed: int) -> None:
        """Run it after `run` has failed: with the code for the types of these arguments, if that is why. Raises
        RuntimeError where the kernel itself failed."""
        if failed == c_abi.WRONG_TYPES:
            self.run = self.compile(kinds_of((taken, *arguments)))
            failed = self.run(taken, tuple(map(linking.plain, arguments)))
        if failed:
            raise RuntimeError(f"kernel {self.source.name} raised an exception on {failed} of {len(taken)} threads")

    def prepare(self, kinds: tuple) -> None:
        """Load the code for these types, or have it compiled in the background."""
        with _loading:
            if kinds in self._linked or kinds in self._coming:
                return
            code = store.read(self.key(kinds))
            if code is None or not self._link(kinds, code):
                self._coming[kinds] = self._ask(kinds)
                _unsettled[self, kinds] = None

    def compile(self, kinds: tuple) -> Callable[[np.ndarray, tuple], int]:
        """The code for these types; waits for it where it is still being compiled."""
        with _loading:
            self.prepare(kinds)
            coming = self._coming.get(kinds)
        # Without the lock, so that other threads can load. After an interrupt the next caller takes the result.
        code = b"" if coming is None else compiling.wait(coming)
        with _loading:
            try:
                if kinds not in self._linked and not (code and self._link(kinds, code)):
                    self.compile_here(kinds)
            # Also where that raises: `settle` must not raise the same again for another solve.
            finally:
                self._coming.pop(kinds, None)
                _unsettled.pop((self, kinds), None)
            return self._linked[kinds]

    def forget(self, kinds: tuple) -> None:
        """Drop a pending request: in a forked process its answer never arrives."""
        self._coming.pop(kinds, None)

    def _ask(self, kinds: tuple) -> Future[bytes]:
        """The code for these types; it is stored on disk, where possible, before the future resolves."""
        key, coming = self.key(kinds), Future()

        def keep(done: Future[bytes]) -> None:
            try:
                if done.result():
                    store.write(key, done.result())
            finally:
                coming.set_result(done.result())

        compiler.compile_elsewhere(self.source, kinds, key).add_done_callback(keep)
        return coming

    def compile_here(self, kinds: tuple) -> None:
        """Compile in this process, and store the code."""
        with compiling.here(at_once=True):
            code = compiled_bytes(self.source, kinds)
        self._linked[kinds] = linking.link(code, kinds)
        store.write(self.key(kinds), code)

    def _link(self, kinds: tuple, code: bytes) -> bool:
        try:
            self._linked[kinds] = linking.link(code, kinds)
        # Any failure: compile instead.
        except Exception:
            return False
        return True

    def key(self, kinds: tuple) -> str:
        """Under which the code for these types is stored: all that the code depends on."""
        # A generated kernel is its own text, and calls the common vocabulary only.
        read = () if self.source.text else dependencies.of(self.py_func)
        text = "\n".join((*_environment(), *map(str, self.source), *read, repr(kinds)))
        return hashlib.sha256(text.encode()).hexdigest()


def _not_loaded(*_: Any) -> int:
    return c_abi.WRONG_TYPES


def kinds_of(arguments: tuple) -> tuple:
    """Numba's types of arguments."""
    return tuple(map(_kind, arguments))


def _kind(argument: Any) -> Any:
    """Numba makes the type of an array anew each time, which takes longer than all else of preparing a kernel."""
    if type(argument) is np.ndarray:
        dtype = argument.dtype
        key = dtype.num, dtype.isnative, argument.ndim, argument.flags.num
    elif isinstance(argument, VALUELESS):
        key = type(argument)
    else:
        return numba.typeof(argument)
    if key not in _kinds:
        _kinds[key] = numba.typeof(argument)
    return _kinds[key]


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


def named(source: Source) -> Kernel:
    """The kernel of a source in this process."""
    return generated(source.text) if source.text else getattr(importlib.import_module(source.module), source.name)


def compiled_bytes(source: Source, kinds: tuple, makers: Sequence[Any] = MAKERS) -> bytes:
    """The object file of a kernel for these types, by the first of these makers that supports it.

    Raises UnsupportedError where none does, errors of numba, and RuntimeError (see `by_numba`).
    """
    if source.text:
        text, file, line = source.text, source.module, 1
        # Numba finds modules by name.
        module = sys.modules.setdefault(source.module, types.ModuleType(source.module))
        namespace = vars(module) | {"np": np}
    else:
        function = named(source).py_func
        lines, line = inspect.getsourcelines(function)
        text, file, namespace = "".join(lines), inspect.getsourcefile(function) or "", dict(function.__globals__)
    made = by_threads.by_threads(text, source.name)
    ast.increment_lineno(made.module, line - 1)
    for maker in makers:
        try:
            found, name = maker.worker(made, namespace | _vocabulary(), kinds, dict(source.options), file)
        except UnsupportedError:
            if maker is makers[-1]:
                raise
        else:
            return c_abi.object_file(found, name, kinds, first=made.first, optimized=maker is by_numba)
    raise AssertionError("a kernel needs a maker")


def settle() -> None:
    """Wait until all requested kernels are linked."""
    for waiting, kinds in tuple(_unsettled):
        waiting.compile(kinds)


def warm_up(maker: Any) -> None:
    """Prepare a process that compiles kernels and runs none: the first small one takes numba 1 s longer."""
    kinds = numba.types.Array(numba.types.int64, 2, "C"), numba.types.float64[::1]
    compiled_bytes(generated(WARM_UP).source, kinds, (maker,))


def _vocabulary() -> dict[str, Any]:
    return {"shared": work_stealing.shared, "threads": work_stealing.threads, **tiles.WORDS, **elements.WORDS}


def _sorted(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    plain = [(name, tuple(sorted(value)) if isinstance(value, set) else value) for name, value in options.items()]
    return tuple(sorted(plain))


@functools.cache
def _environment() -> tuple[str, ...]:
    """Everything that machine code depends on in addition to its text and types: versions, processor, options."""
    support = (work_stealing, tiles, elements, cache_lines, dot_sums, by_threads, c_abi, linking, *MAKERS, *MODULES)
    texts = [inspect.getsource(module) for module in (*support, sys.modules[__name__])]
    processor = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, *processor)
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
