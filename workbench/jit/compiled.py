"""Kernels: functions whose machine code comes from a cache on disk, from a compiling process, or from this one.

The code in the cache depends on the functions that a kernel calls and on the constants that it reads, in any module.
LLVM never frees memory: a process that compiles grows by some megabytes a kernel. So kernels that are not in the cache
are read here, which takes milliseconds, and their LLVM text is compiled by a separate process (`compiler`), several in
parallel, which returns only machine code. Where such a process cannot be started, or fails, the kernel is compiled in
this process.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import math
import os
import pkgutil
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from workbench import compiler as language
from workbench.compiler import reading, words
from workbench.compiler.constants import Named as Constants
from workbench.compiler.constants import named as named_constants
from workbench.compiler.kinds import KernelError, Row
from workbench.compiler.llvm import llvm_text
from workbench.compiler.source import checked_licences, source_of, source_of_text
from workbench.jit import c_abi, compiler, dot_sums, launching, linking, store, work_stealing
from workbench.jit import compile_time as compiling
from workbench.jit.c_abi import Kinds, Text, in_registers, kinds_of, object_file

NUMBERS = bool, int, float, complex, np.generic
CONSTANTS = (*NUMBERS, str, type, np.dtype, np.ufunc, types.NoneType, types.BuiltinFunctionType)
"""Types whose values are written as the same text in every process."""
VERSIONED = {math, np}
"""Modules whose functions change with a version only, which is part of every key."""


def dependencies_of(function: types.FunctionType) -> tuple[str, ...]:
    """The texts of it and of all that it calls, directly or not, as they are compiled, and the values of the constants
    that these functions read. Sorted.

    Raises KernelError where a function has no text, as one that is typed in, and TypeError where one reads a global
    of a type that is not among `CONSTANTS`.
    """
    found: set[str] = set()
    waiting, seen = [function], set[object]()
    while waiting:
        reader = waiting.pop()
        if reader in seen:
            continue
        seen.add(reader)
        source = source_of(reader)
        found.add(f"{source.text}{source.licences}")
        for name, value in _read(reader):
            if isinstance(value, types.FunctionType):
                # Names may be exchanged without any text that changes.
                found.add(f"{name} = {value.__module__}.{value.__qualname__}")
                waiting.append(value)
            else:
                found.add(f"{name} = {_written(name, value)}")
    return tuple(sorted(found))


def _read(reader: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Names and values outside a function that it reads: globals, attributes of modules, variables of functions around
    it, defaults of its arguments."""
    names = set(_names(reader.__code__))
    outside = {name: reader.__globals__[name] for name in names if name in reader.__globals__}
    cells = zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=True)
    outside |= {name: cell.cell_contents for name, cell in cells}
    outside |= {f"{reader.__name__}.default_{k}": value for k, value in enumerate(reader.__defaults__ or ())}
    for name, value in outside.items():
        if not isinstance(value, types.ModuleType):
            yield f"{reader.__module__}.{name}", value
        elif value not in VERSIONED:
            yield from ((f"{value.__name__}.{each}", vars(value)[each]) for each in names if each in vars(value))


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _names(part)


def _written(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_written(name, each) for each in value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, CONSTANTS):
        return repr(value)
    raise TypeError(f"a kernel reads {name}, a {type(value).__name__}, whose value is no part of its key; pass it on")


REORDERED = ("contract", "nsz", "reassoc")
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
VOCABULARY: dict[str, object] = {"np": np, "total": dot_sums.total} | {name: word for word, name in words.WORDS.items()}
"""Names that the text of a generated kernel may use."""
loading = threading.RLock()
"""The lock of the thread that compiles, links or starts threads; a fork waits for it."""
_generated: dict[str, Kernel] = {}
_with_constants: dict[object, Kernel] = {}
_unsettled: dict[tuple[Kernel, Kinds], None] = {}
"""Kernels and types requested and not linked yet, in order of request."""


class Source(NamedTuple):
    """The source of a kernel: `text`, or if that is empty the function `name` of the module. constants: values of its
    keyword-only parameters."""

    module: str
    name: str
    text: str
    licences: tuple[str, ...]
    constants: Constants = ()


class Kernel:
    """A function that is compiled for the types of its arguments, arrays and numbers.

    py_func: the Python function; None of a generated kernel, which is its text.

    run(taken, arguments) is the code of the latest launch, which tests the types and returns 0 once it has run.
    """

    def __init__(self, function: types.FunctionType | None, source: Source) -> None:
        self.py_func, self.source = function, source
        self._coming: dict[Kinds, Future[bytes]] = {}
        self._linked: dict[Kinds, linking.Linked] = {}
        self.run: linking.Launch = _not_loaded

    def of(self, **constants: object) -> Kernel:
        """This kernel with given values of its constants, its keyword-only parameters: numbers, truths, dtypes and
        tuples of them. Equal values give the same object. Raises KernelError."""
        values = named_constants(dict(self.source.constants) | constants)
        key = self.py_func, self.source.text, values
        with loading:
            if key not in _with_constants:
                _with_constants[key] = Kernel(self.py_func, self.source._replace(constants=values))
            return _with_constants[key]

    def run_other(self, taken: np.ndarray, arguments: tuple[object, ...]) -> None:
        """Run it with the code for the types of these arguments, which `run` does not take. Raises KernelError where
        they, or the kernel, are not in the grammar."""
        self.run = self.compile(kinds_of((taken, *arguments))).launch
        if self.run(taken, tuple(map(linking.plain, arguments))):
            raise RuntimeError(f"kernel {self.source.name} does not take the arguments that it was compiled for")

    def prepare(self, kinds: Kinds) -> None:
        """Load the code for these types, or have it compiled in the background."""
        with loading:
            if kinds in self._linked or kinds in self._coming:
                return
            code = store.read(self.key(kinds))
            if code is None or not self._link(kinds, code):
                self._coming[kinds] = self._ask(kinds)
                _unsettled[self, kinds] = None

    def compile(self, kinds: Kinds) -> linking.Linked:
        """The code for these types; waits for it where it is still being compiled."""
        with loading:
            self.prepare(kinds)
            coming = self._coming.get(kinds)
        # Without the lock, so that other threads can load. After an interrupt the next caller takes the result.
        code = b"" if coming is None else compiling.wait(coming)
        with loading:
            try:
                if kinds not in self._linked and not (code and self._link(kinds, code)):
                    self.compile_here(kinds)
            # Also where that raises: `settle` must not raise the same again for another solve.
            finally:
                self._coming.pop(kinds, None)
                _unsettled.pop((self, kinds), None)
            return self._linked[kinds]

    def forget(self, kinds: Kinds) -> None:
        """Drop a pending request: in a forked process its answer never arrives."""
        self._coming.pop(kinds, None)

    def _ask(self, kinds: Kinds) -> Future[bytes]:
        """The code for these types; it is stored on disk, where possible, before the future resolves."""
        key, coming = self.key(kinds), Future()

        def keep(done: Future[bytes]) -> None:
            try:
                if done.result():
                    store.write(key, done.result())
            finally:
                coming.set_result(done.result())

        asked = compiler.compile_elsewhere(self.text(kinds))
        asked.add_done_callback(keep)
        asked.add_done_callback(compiling.asking())
        return coming

    def tree(self, kinds: Kinds) -> reading.Kernel:
        """The typed tree of the kernel for these types. Raises KernelError where it is not in the grammar."""
        source = self.source
        try:
            if self.py_func is None:
                read = source_of_text(source.text, source.module, VOCABULARY, source.licences)
            else:
                read = source_of(self.py_func)._replace(licences=source.licences)
            return reading.Kernel(read._replace(constants=source.constants), tuple(map(in_registers, kinds[1:])))
        except RecursionError:
            raise KernelError(
                f"kernel {source.module}.{source.name} has expressions that are nested too deep; name parts of them"
            ) from None

    def text(self, kinds: Kinds) -> Text:
        """LLVM's text of the kernel for these types. Raises KernelError where it is not in the grammar."""
        made = self.tree(kinds)
        llvm = llvm_text(made, c_abi.WORKER, c_abi.arguments_of(kinds), c_abi.LAYOUT)
        return Text(llvm, kinds, first=bool(made.phases.first))

    def compile_here(self, kinds: Kinds) -> None:
        """Compile in this process, and store the code."""
        with compiling.here(at_once=True):
            code = object_file(self.text(kinds))
        self._linked[kinds] = linking.link(code, kinds)
        store.write(self.key(kinds), code)

    def _link(self, kinds: Kinds, code: bytes) -> bool:
        try:
            self._linked[kinds] = linking.link(code, kinds)
        # Any failure: compile instead.
        except Exception:
            return False
        return True

    def key(self, kinds: Kinds) -> str:
        """Under which the code for these types is stored: all that the code depends on."""
        # A generated kernel is its own text, and calls the common vocabulary only.
        functions = [*([self.py_func] if self.py_func else []), *_functions(self.source.constants)]
        read = sorted({text for function in functions for text in dependencies_of(function)})
        text = "\n".join((*_environment(), *map(str, self.source), *read, repr(kinds)))
        return hashlib.sha256(text.encode()).hexdigest()


def _functions(constants: object) -> Iterator[types.FunctionType]:
    """The functions of rows among constants."""
    if isinstance(constants, Row):
        # By this way round, for type checkers bind what is read from an object.
        yield vars(constants)["function"]
    elif isinstance(constants, tuple):
        for each in constants:
            yield from _functions(each)


def _not_loaded(*_: object) -> int:
    return launching.WRONG_TYPES


def kernel(*licences: str) -> Callable[[types.FunctionType], Kernel]:
    """Decorator of the kernels of a module. licences: of LLVM for their arithmetic, none by default."""

    given = checked_licences(licences)

    def decorate(function: types.FunctionType) -> Kernel:
        return Kernel(function, Source(function.__module__, function.__name__, "", given))

    return decorate


def generated(text: str) -> Kernel:
    """The kernel that a text defines under the name `kernel`; one text is one kernel."""
    with loading:
        if text not in _generated:
            name = GENERATED + hashlib.sha256(text.encode()).hexdigest()[:24]
            _generated[text] = Kernel(None, Source(name, "kernel", text, REORDERED))
        return _generated[text]


def settle() -> None:
    """Wait until all requested kernels are linked."""
    for waiting, kinds in tuple(_unsettled):
        waiting.compile(kinds)


def warm_up() -> None:
    """Prepare a process that compiles kernels and runs none: the first small one takes longer."""
    kinds = kinds_of((work_stealing.counters(1), np.zeros(1)))
    object_file(generated(WARM_UP).text(kinds))


@functools.cache
def _environment() -> tuple[str, ...]:
    """Everything that machine code depends on in addition to its text and types: versions, processor, options."""
    names = (f"{language.__name__}.{module.name}" for module in pkgutil.iter_modules(language.__path__))
    support = (*map(importlib.import_module, names), dot_sums, c_abi, launching, linking, sys.modules[__name__])
    processor = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return (*map(inspect.getsource, support), llvmlite.__version__, np.__version__, sys.version, *processor)


def _forked() -> None:
    """Reset in a forked process, which has no thread that receives answers."""
    for waiting, kinds in _unsettled:
        waiting.forget(kinds)
    _unsettled.clear()
    loading.release()


if hasattr(os, "register_at_fork"):
    # A fork waits until no thread compiles or links: LLVM and its lock would be left half-way in the forked process.
    os.register_at_fork(before=loading.acquire, after_in_parent=loading.release, after_in_child=_forked)
