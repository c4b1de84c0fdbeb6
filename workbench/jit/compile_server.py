"""Main loop of the compiling process: LLVM is initialized once, and each kernel is compiled in a separate fork.

A fork that needs numba ends without an answer; once numba is initialized here as well, which takes it 1 s, it is tried
again. So kernels are compiled on several cores at once, their memory is freed, and a crash affects one kernel only.
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
from typing import Any, BinaryIO

from workbench.jit.messages import read_message, write_message

IDLE = 20.0
"""Seconds without a request after which the process ends."""
MOST = 4
"""Forks at once; each takes 100 to 200 MB."""
NEEDS_NUMBA = 2
"""Exit status of a fork whose kernel is left to numba."""
OWN, NUMBA, ALL = slice(1), slice(1, None), slice(None)
"""Parts of `compiled.MAKERS`."""
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
        write_message(answers, message[0], _compile(message[1], ALL) or b"")


def _compile(request: bytes, part: slice) -> bytes | None:
    """Machine code, empty after an error, and where the parent has other source: the parent then compiles and reports
    it. None where it is left to makers that are not of this part."""
    from workbench.jit import compiled, front_end

    try:
        source, kinds, key = pickle.loads(request)
        if compiled.named(source).key(kinds) != key:
            return b""
        return compiled.compiled_bytes(source, kinds, compiled.MAKERS[part])
    except front_end.UnsupportedError:
        return None
    except BaseException:
        return b""


def _whole_message(requests: Any) -> tuple[int, bytes] | None:
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
    """One fork per kernel, at most as many at once as there are cores and `MOST`."""

    def __init__(self, requests: Any, answers: BinaryIO) -> None:
        self._requests, self._answers = requests, answers
        self._waiting: list[tuple[int, bytes, slice]] = []
        """Number of the request, the request, and the makers that may compile it."""
        self._working: dict[int, tuple[int, bytes, int, bytearray]] = {}
        """By the pipe of the answer: number of the request, the request, process, bytes received so far."""
        self._numba_is_warm = False
        self._most = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)

    def serve(self) -> None:
        from workbench.jit import compiled

        compiled.warm_up(compiled.by_front_end)
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
                        self._waiting.append((*message, OWN))
                    elif self._received(file):
                        poll.unregister(file)
                while self._waiting and len(self._working) < self._most:
                    poll.register(self._fork(*self._waiting.pop(0)), select.POLLIN)
        finally:
            for _, _, process, _ in self._working.values():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)

    def _received(self, pipe: int) -> bool:
        """Read from a fork; at the end of its output forward the answer. Returns whether it has ended."""
        number, request, process, answer = self._working[pipe]
        more = os.read(pipe, 1 << 16)
        if more:
            answer += more
            return False
        del self._working[pipe]
        os.close(pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status == NEEDS_NUMBA:
            self._left_to_numba(number, request)
        else:
            write_message(self._answers, number, bytes(answer) if status == 0 else b"")
        return True

    def _left_to_numba(self, number: int, request: bytes) -> None:
        from workbench.jit import compiled

        if not self._numba_is_warm:
            compiled.warm_up(compiled.by_numba)
            gc.freeze()
            self._numba_is_warm = True
        self._waiting.insert(0, (number, request, NUMBA))

    def _fork(self, number: int, request: bytes, makers: slice) -> int:
        """Start a fork for a request; returns the pipe of its answer."""
        output, pipe = os.pipe()
        process = os.fork()
        if process == 0:
            status = 1
            try:
                _end_with_parent()
                code = _compile(request, makers)
                with os.fdopen(pipe, "wb") as file:
                    file.write(code or b"")
                status = NEEDS_NUMBA if code is None else 0
            finally:
                os._exit(status)
        os.close(pipe)
        self._working[output] = (number, request, process, bytearray())
        return output


def _end_with_parent() -> None:
    """Ask Linux to end this process with its parent; elsewhere a fork ends when its kernel is compiled."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
