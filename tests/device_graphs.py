"""An OpenCL device that records launches as a GPU's graphs do, so that what is repeated is tested without one."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl

from workbench.devices.cuda.repeated import in_units, iterations_of_graph
from workbench.devices.opencl import OpenCL


class Memory(cl.Buffer):
    """Memory that a recorded launch refers to weakly, as by its address."""

    __slots__ = ("__weakref__",)


class RecordingOpenCL(OpenCL):
    """As CUDA: what a graph is recorded from is not carried out, and the graph repeats it with the numbers and in the
    memory of then. Raises AssertionError where the host takes part in what is recorded, or memory of it was freed."""

    _tape: list[Callable[[], None]] | None = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kernels: list[int] = []
        self._iteration: tuple[int, ...] = ()
        self._ahead = set[Any]()

    def allocate(self, nbytes: int) -> cl.Buffer:
        if nbytes > self.largest:
            return super().allocate(nbytes)
        with self._errors():
            return Memory(self._context, cl.mem_flags.READ_WRITE, max(1, nbytes))

    def launch(
        self, function: Any, groups: int, group: int, arguments: tuple[Any, ...], *, spread: bool = False
    ) -> None:
        if self._tape is not None:
            self._kernels.append(id(function))
        self._do(super().launch, function, groups, group, arguments)

    def copy(self, target: Any, source: Any, nbytes: int, *, target_at: int = 0, source_at: int = 0) -> None:
        copied = super().copy

        def copy(target: Any, source: Any) -> None:
            copied(target, source, nbytes, target_at=target_at, source_at=source_at)

        self._do(copy, target, source)

    def clear(self, handle: Any, nbytes: int) -> None:
        self._do(super().clear, handle, nbytes)

    def upload(self, handle: Any, values: np.ndarray) -> None:
        with self._errors():
            assert self._tape is None, "a copy from the host is recorded"
            super().upload(handle, values)

    def download(self, handle: Any, values: np.ndarray) -> None:
        with self._errors():
            assert self._tape is None, "a copy to the host is recorded"
            super().download(handle, values)

    def synchronize(self) -> None:
        with self._errors():
            assert self._tape is None, "the host waits in what is recorded"
            super().synchronize()

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        return self._played(self._recorded(work))

    def repeated(self, work: Callable[[], None], unit: int, scalars: Any) -> Callable[[int], None]:
        tape = self._recorded(work)
        self._iteration = tuple(self._kernels)
        unit = iterations_of_graph(unit, len(tape))
        many = [act for _ in range(unit) for act in self._recorded(work)]
        return in_units(self._played(tape), self._played(many), unit)

    def compile_ahead(self, work: Callable[[], None], texts: tuple[str, ...] = ()) -> None:
        known = texts, self._iteration
        if known not in self._ahead or not texts:
            super().compile_ahead(work, texts)
            self._ahead.add(known)

    def _recorded(self, work: Callable[[], None]) -> list[Callable[[], None]]:
        with self._errors():
            assert self._tape is None, "a graph is recorded while another one is"
            self._tape, self._kernels, self.recording = [], [], True
            try:
                work()
                return self._tape
            finally:
                self._tape, self.recording = None, False

    def _played(self, tape: list[Callable[[], None]]) -> Callable[[], None]:
        def play() -> None:
            with self._errors():
                for act in tape:
                    act()

        return play

    def _do(self, act: Callable[..., None], *given: Any) -> None:
        """Carry it out, or note it with what it is given."""
        # Another thread waits until the graph is recorded.
        with self._errors():
            if self._tape is None:
                act(*given)
                return
            noted = [_noted(each) for each in given]
            self._tape.append(lambda: act(*(each() for each in noted)))


def _noted(given: Any) -> Callable[[], Any]:
    if isinstance(given, tuple):
        parts = [_noted(part) for part in given]
        return lambda: tuple(part() for part in parts)
    if not isinstance(given, Memory):
        return lambda: given
    address = weakref.ref(given)

    def memory() -> Memory:
        found = address()
        assert found is not None, "what is repeated uses memory that was freed"
        return found

    return memory
