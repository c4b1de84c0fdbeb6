"""Kernels of CUDA, compiled side by side: NVRTC works on many threads at once, 0.1 to 0.3 s on each kernel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from workbench.devices.kernels.kernel_text import KernelText
from workbench.jit import compile_time as compiling

Source = tuple[str, KernelText]
"""A prelude, and the text behind it."""


class Kernel:
    """A kernel that is compiled, or being compiled. source: of what, where it can be a part of a longer kernel."""

    __slots__ = ("_coming", "ready", "source")

    def __init__(self, coming: Future[Any], source: Source | None) -> None:
        self._coming, self.source = coming, source
        self.ready: Any = None
        """CuPy's function, once it has been waited for."""

    def wait(self) -> Any:
        """CuPy's function. Raises what the compiler raised."""
        if self.ready is None:
            self.ready = self._coming.result() if self._coming.done() else compiling.wait(self._coming)
        return self.ready


class Kernels:
    """The kernels of one device by their text. build: compiles a text and returns the function of a name, on any
    thread."""

    def __init__(self, build: Callable[[str, str], Any]) -> None:
        self._build, self._pool = build, ThreadPoolExecutor(thread_name_prefix="nvrtc")
        self._known: dict[tuple[str, str], Kernel] = {}
        self._coming = list[Kernel]()

    def get(self, text: str, name: str, source: Source | None = None) -> Kernel:
        """The kernel of this name in a text, whose compilation has begun."""
        key = text, name
        if key not in self._known:
            self._known[key] = Kernel(self._pool.submit(self._build, *key), source)
            self._coming.append(self._known[key])
        return self._known[key]

    def wait(self) -> None:
        """Until all of them are compiled. Raises what the compiler raised first."""
        while self._coming:
            self._coming.pop().wait()
