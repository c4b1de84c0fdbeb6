"""Main loop of the compiling process: LLVM is initialized once, and each kernel is compiled in a separate fork.

So kernels are compiled on several cores at once, their memory is freed, and a crash affects one kernel only.
Where a process cannot be forked, kernels are compiled one after the other, and the process ends after some of them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import sys
from typing import BinaryIO

from workbench.jit import c_abi, fixed_text
from workbench.jit.compiler import read_message, write_message

IDLE = 20.0
"""Seconds without a request after which the process ends."""
MOST = 4
"""Forks at once; each takes 100 to 200 MB."""
MOST_HERE = 20
"""Kernels that are compiled without forks before the process ends, at 5 to 20 MB each."""
FORKS = hasattr(os, "fork") and hasattr(select, "poll") and sys.platform != "darwin"
"""System libraries of macOS cannot be used after a fork."""


def serve() -> None:
    """Answer requests from standard input on standard output until the end of input or an idle timeout."""
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    # Output of libraries must not mix with the answers.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    with contextlib.suppress(OSError, ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):
        if FORKS:
            _Forks(requests, answers).serve()
        else:
            _one_by_one(requests, answers)


def _one_by_one(requests: BinaryIO, answers: BinaryIO) -> None:
    for _ in range(MOST_HERE):
        message = _whole_message(requests)
        if message is None:
            return
        write_message(answers, message[0], _compile(message[1]))


def _compile(request: bytes) -> bytes:
    """Machine code; empty after an error, which the parent reports where it compiles the same text."""
    try:
        asked = pickle.loads(request)
        return fixed_text.object_file(asked) if isinstance(asked, str) else c_abi.object_file(asked)
    except BaseException:
        return b""


def _whole_message(requests: BinaryIO) -> tuple[int, bytes] | None:
    # Unbuffered, so that poll reports all pending input; a read may then return fewer bytes than requested.
    class Whole:
        @staticmethod
        def read(size: int) -> bytes:
            parts = b""
            while len(parts) < size and (more := requests.read(size - len(parts))):
                parts += more
            return parts

    return read_message(Whole)  # type: ignore[arg-type]


class _Forks:
    """One fork per kernel, no more at once than cores or `MOST`."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers
        self._waiting: list[tuple[int, bytes]] = []
        """Number of the request, and the request."""
        self._working: dict[int, tuple[int, int, bytearray]] = {}
        """Forks by the pipe of the answer: number of the request, process, bytes received so far."""
        self._most = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)

    def serve(self) -> None:
        from workbench.jit import compiled

        compiled.warm_up()
        # Keep these objects out of the garbage collection of the forks, which would copy them.
        gc.collect()
        gc.freeze()
        gc.disable()
        poll = select.poll()
        poll.register(self._requests, select.POLLIN)
        try:
            while True:
                ready = poll.poll(None if self._working else 1000 * IDLE)
                if not ready and not self._working:
                    return
                for file, _ in ready:
                    if file == self._requests.fileno():
                        message = _whole_message(self._requests)
                        if message is None:
                            return
                        self._waiting.append(message)
                    elif self._received(file):
                        poll.unregister(file)
                while self._waiting and len(self._working) < self._most:
                    poll.register(self._fork(*self._waiting.pop(0)), select.POLLIN)
        finally:
            for _, process, _ in self._working.values():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)

    def _received(self, pipe: int) -> bool:
        """Read from a fork; at the end of its output forward the answer. Returns whether it has ended."""
        number, process, answer = self._working[pipe]
        more = os.read(pipe, 1 << 16)
        if more:
            answer += more
            return False
        del self._working[pipe]
        os.close(pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        write_message(self._answers, number, bytes(answer) if status == 0 else b"")
        return True

    def _fork(self, number: int, request: bytes) -> int:
        """Start a fork for a request; returns the pipe of its answer."""
        output, pipe = os.pipe()
        process = os.fork()
        if process == 0:
            status = 1
            try:
                _end_with_parent()
                code = _compile(request)
                with os.fdopen(pipe, "wb") as file:
                    file.write(code)
                status = 0
            finally:
                os._exit(status)
        os.close(pipe)
        self._working[output] = (number, process, bytearray())
        return output


def _end_with_parent() -> None:
    """Ask Linux to end this process with its parent; elsewhere a fork ends when its kernel is compiled."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
