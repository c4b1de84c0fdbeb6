"""Numba for a process that compiles kernels and runs none: functions are optimized and not turned into machine code.

Numba makes machine code of every function that it compiles, and of those that are inlined into a kernel too. `portable`
makes that of a kernel once more, as an object file for other processes. Only that is wanted here, and without the
others a kernel takes half the time.
"""

from __future__ import annotations

import sys
from typing import Any

from numba import _dynfunc  # pyright: ignore[reportAttributeAccessIssue]
from numba.core.codegen import JITCodeLibrary

PLACEHOLDER = 1
"""An address that is never called."""


class _Library(JITCodeLibrary):
    """Functions as LLVM's optimizer leaves them."""

    def _finalize_specific(self) -> None:
        self._codegen._scan_and_fix_unresolved_refs(self._final_module)


def compile_only(context: Any) -> None:
    """From now on functions compiled for this context can be had from `portable`, and not called."""
    codegen = context.codegen()
    codegen._library_class = _Library
    codegen._add_module = lambda module: None
    context.get_executable = _placeholder


def _placeholder(library: Any, description: Any, environment: Any) -> Any:
    library._ensure_finalized()
    name = description.qualname.rpartition(".")[2]
    return _dynfunc.make_function(sys.modules[__name__], name, "", PLACEHOLDER, environment, (library,))
