"""Machine code of LLVM texts that do not depend on a kernel."""

from __future__ import annotations

import hashlib

import llvmlite
import llvmlite.binding as llvm

from workbench.jit import store


def fixed_object(text: str) -> bytes:
    """The object file of a text, which is stored on disk. LLVM is to be initialized."""
    triple = llvm.get_process_triple()
    key = hashlib.sha256("\n".join((text, triple, llvmlite.__version__)).encode()).hexdigest()
    code = store.read(key)
    if code is None:
        machine, module = llvm.Target.from_triple(triple).create_target_machine(reloc="pic"), llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        code = machine.emit_object(module)
        store.write(key, code)
    return code
