"""Machine code of LLVM texts that do not depend on a kernel."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Mapping

import llvmlite
import llvmlite.binding as llvm

from workbench.jit import compile_time as compiling
from workbench.jit import compiler, store

OPTIONS = "speed 2"
"""A part of the key."""
_numbers = itertools.count()


def link_text(
    linker: llvm.LLJIT, text: str, imported: Mapping[str, int], exported: tuple[str, ...]
) -> llvm.ResourceTracker:
    """The machine code of a text by the symbols that it exports, stored on disk. linker: LLVM's.

    imported: addresses of the symbols that it lacks. Raises RuntimeError where it cannot be linked.
    """
    triple = llvm.get_process_triple()
    key = hashlib.sha256("\n".join((text, triple, OPTIONS, llvmlite.__version__)).encode()).hexdigest()
    code = store.read(key)
    if code is not None:
        # Any failure: compile instead, as for kernels.
        with contextlib.suppress(RuntimeError):
            return _linked(linker, code, imported, exported)
    # By another process, as kernels are: LLVM keeps the memory of what it compiles.
    code = compiling.wait(compiler.compile_elsewhere(text)) or object_file(text)
    store.write(key, code)
    return _linked(linker, code, imported, exported)


def object_file(text: str) -> bytes:
    """The object file of a text."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    machine, module = llvm.Target.from_triple(triple).create_target_machine(reloc="pic"), llvm.parse_assembly(text)
    module.triple, module.data_layout = triple, str(machine.target_data)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def _linked(
    linker: llvm.LLJIT, code: bytes, imported: Mapping[str, int], exported: tuple[str, ...]
) -> llvm.ResourceTracker:
    builder = llvm.JITLibraryBuilder().add_object_img(code)
    for name, address in imported.items():
        builder.import_symbol(name, address)
    for name in exported:
        builder.export_symbol(name)
    # LLVM keeps a name for ever, also where an interrupt comes before it returns.
    return builder.link(linker, f"text {next(_numbers)}")
