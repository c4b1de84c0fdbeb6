"""What belongs to the setup of a run on an accelerator: after it nothing is compiled or recorded any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.devices.kernels.kernel_text import KernelText
from workbench.run import Run


@contextmanager
def nothing_is_made(runtime: Any, run: Run) -> Iterator[None]:
    """Fail where the runtime compiles a text that it has not compiled, or records launches, but for a restart."""
    compile, record, repeated = runtime.compile, runtime.record, runtime.repeated
    workspace = run.workspace

    def compiled(prelude: str, kernel: KernelText) -> Any:
        known = (prelude + kernel.text, kernel.name) in runtime.functions
        assert known, f"{kernel.name} was compiled after the setup:\n{kernel.text[-2000:]}"
        return compile(prelude, kernel)

    def refusing(what: str, allowed: Any) -> Any:
        def refused(*arguments: Any) -> Any:
            # A restart lies between iterations, and has a workspace of its own.
            assert run.workspace is not workspace, f"launches were {what} after the setup"
            return allowed(*arguments)

        return refused

    runtime.compile = compiled
    runtime.record, runtime.repeated = refusing("recorded", record), refusing("recorded", repeated)
    try:
        yield
    finally:
        del runtime.compile, runtime.record, runtime.repeated
