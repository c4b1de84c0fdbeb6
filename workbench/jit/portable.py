"""Serialized machine code: exported from a function compiled by numba, and linked in another process of this machine.

Numba's own cache files cost a process that loads one 0.3 to 1.2 MB, since numba keeps the LLVM module for
kernels that might call it, and never frees it. Here a kernel is one object file whose only visible symbol is its entry;
linked by LLVM's JIT linker it costs 0.05 MB.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import pickle
import sys
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc  # pyright: ignore[reportAttributeAccessIssue]
from numba.core import serialize
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.np.ufunc import parallel

from workbench.jit.thread_pool import POOL

ENVIRONMENT = "_ZN08NumbaEnv"
"""Numba's prefix for pointers to the Python objects that a function needs, for example those of its exceptions."""

_numbers = itertools.count()


class NotPortableError(Exception):
    """The code contains addresses of this process."""


@global_compiler_lock
def portable(compiled: Any) -> bytes:
    """The serialized code of a function that numba has compiled. Raises NotPortableError."""
    if compiled.library.has_dynamic_globals or compiled.lifted or compiled.objectmode:
        raise NotPortableError(compiled.fndesc.qualname)
    entry = compiled.fndesc.llvm_cpython_wrapper_name
    module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
    environments = {}
    for variable in module.global_variables:
        if variable.name.startswith(ENVIRONMENT):
            environment = Environment._memo.get(variable.name)
            environments[variable.name] = [] if environment is None else list(environment.consts)
            variable.linkage = "external"
            if variable.is_declaration:
                raise NotPortableError(variable.name)
    for function in module.functions:
        # Numba numbers the functions of a process, so other kernels may have others of the same name.
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    machine = compiled.library.codegen._tm
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
    wanted = [*module.functions, *module.global_variables]
    names = [part.name for part in wanted if part.is_declaration and not part.name.startswith("llvm.")]
    own = compiled.fndesc.env_name
    return serialize.dumps((compiled.fndesc.qualname, entry, own, environments, names, machine.emit_object(module)))


@global_compiler_lock
def link(code: bytes) -> Callable[..., Any]:
    """Link serialized code; the function accepts only the argument types that it was compiled for.

    The code must be from this machine and these versions; for any other, errors of LLVM and pickle are raised.
    """
    name, entry, own, environments, names, machine_code = pickle.loads(code)
    linker()
    library = llvm.JITLibraryBuilder().add_object_img(machine_code).export_symbol(entry)
    for symbol in environments:
        library.export_symbol(symbol)
    for symbol in names:
        address = llvm.address_of_symbol(symbol)
        if not address:
            raise RuntimeError(f"this process has no {symbol}")
        library.import_symbol(symbol, address)
    linked = library.link(linker(), f"kernel {next(_numbers)}")
    held = {}
    for symbol, constants in environments.items():
        held[symbol] = environment = Environment({"__name__": __name__})
        environment.consts[:] = constants
        environment.env_name = symbol
        ctypes.c_void_p.from_address(linked[symbol]).value = id(environment)
    environment = held.get(own) or Environment({"__name__": __name__})
    return _dynfunc.make_function(
        sys.modules[__name__], name, f"compiled {name}", linked[entry], environment, (linked, held)
    )


def pretend_threads() -> None:
    """Allow code that uses the thread pool to be compiled in a process that starts no threads because it forks."""
    if not llvm.address_of_symbol(POOL):
        llvm.add_symbol(POOL, 1)


def context() -> Any:
    """Numba's target context for this processor."""
    return cpu_target.target_context


@functools.cache
def linker() -> Any:
    """LLVM's JIT linker, with numba's runtime initialized: reference counts, conversion of arguments, thread pool."""
    context().codegen()
    rtsys.initialize(context())
    parallel._launch_threads()
    return llvm.create_lljit_compiler()
