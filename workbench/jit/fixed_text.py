"""Machine code of LLVM texts that do not depend on a kernel."""

from __future__ import annotations

import hashlib

import llvmlite
import llvmlite.binding as llvm

from workbench.jit import store

OPTIONS = "speed 2"
"""A part of the key."""


def fixed_object(text: str) -> bytes:
    """The object file of a text, which is stored on disk. LLVM is to be initialized."""
    triple = llvm.get_process_triple()
    key = hashlib.sha256("\n".join((text, triple, OPTIONS, llvmlite.__version__)).encode()).hexdigest()
    code = store.read(key)
    if code is None:
        machine, module = llvm.Target.from_triple(triple).create_target_machine(reloc="pic"), llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        passes.getModulePassManager().run(module, passes)
        code = machine.emit_object(module)
        store.write(key, code)
    return code
