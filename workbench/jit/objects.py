"""Numba for a process that compiles kernels and runs none: functions are optimized and not turned into machine code.

Numba generates machine code for every function that it compiles, also for those that are inlined into a kernel.
`portable` generates that of a kernel as an object file for other processes. Only that is needed here; without the rest
a kernel takes half the time.
"""

from __future__ import annotations

import sys
from typing import Any

from numba import _dynfunc  # pyright: ignore[reportAttributeAccessIssue]
from numba.core.codegen import JITCodeLibrary

PLACEHOLDER = 1
"""A function address that is never called."""


class _Library(JITCodeLibrary):
    """A library of optimized LLVM modules without machine code."""

    def _finalize_specific(self) -> None:
        self._codegen._scan_and_fix_unresolved_refs(self._final_module)


def compile_only(context: Any) -> None:
    """Make functions compiled for this context available to `portable` only: they cannot be called."""
    codegen = context.codegen()
    codegen._library_class = _Library
    codegen._add_module = lambda module: None
    context.get_executable = _placeholder


def _placeholder(library: Any, description: Any, environment: Any) -> Any:
    library._ensure_finalized()
    name = description.qualname.rpartition(".")[2]
    return _dynfunc.make_function(sys.modules[__name__], name, "", PLACEHOLDER, environment, (library,))
