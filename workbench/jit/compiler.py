"""The compiling process: started by the first request, ended after some idle time.

Requests and answers go through pipes; the process has no other input or output, does not import `__main__`, and exits
with this one, however that ends. An answer is machine code, or empty after a failure.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import struct
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import IO

from workbench.jit import store

HEAD = struct.Struct("!QQ")


def write_message(file: IO[bytes], number: int, content: bytes) -> None:
    """A numbered message into a pipe."""
    file.write(HEAD.pack(number, len(content)) + content)
    file.flush()


def read_message(file: IO[bytes]) -> tuple[int, bytes] | None:
    """The next one; None at the end of the pipe."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    number, size = HEAD.unpack(head)
    content = file.read(size)
    return None if len(content) < size else (number, content)


ROOT = str(Path(__file__).resolve().parents[2])
TRIES = 2
"""Attempts per request: the process may end when idle just as a request is sent."""

START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from workbench.jit import compile_server
compile_server.serve()
"""

_changing = threading.Lock()
running: _Process | None = None
"""The compiling process; None before the first request."""
_ending = False
"""Is on while the interpreter shuts down."""


def compile_elsewhere(text: tuple[object, ...] | str) -> Future[bytes]:
    """Request the machine code of a kernel, `c_abi.Text`, or of a text; the result is empty after a failure."""
    coming: Future[bytes] = Future()
    _send(pickle.dumps(text), coming, TRIES)
    return coming


def start_if_nothing_is_stored() -> None:
    """Start the process before the first request where the machine code of no kernel is on disk, since nearly every
    solve will ask for some. It takes a third of a second to start, in which this process may import what it needs."""
    global running
    with _changing:
        if running is None and not _ending and not store.has_any():
            # The first request tries again.
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                running = _Process()


def _send(request: bytes, coming: Future[bytes], tries: int) -> None:
    global running
    with _changing:
        for left in range(0 if _ending else tries, 0, -1):
            # It cannot be started (forbidden, out of memory, interpreter shutdown), or has just ended.
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                if running is None or not running.alive:
                    running = _Process()
                running.ask(request, coming, left)
                return
    coming.set_result(b"")


class _Process:
    """One compiling process, and the thread that reads its answers."""

    def __init__(self) -> None:
        if not sys.executable:
            raise OSError("this Python does not say how it was started")
        self.alive = True
        self._asked: dict[int, tuple[bytes, Future[bytes], int]] = {}
        self._count = 0
        self.process = subprocess.Popen(
            [sys.executable, "-I", *(["-B"] if sys.dont_write_bytecode else []), "-c", START, json.dumps(_path())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in a terminal must not reach it.
            start_new_session=True,
            # It compiles in one thread; BLAS threads would only take memory.
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._input: IO[bytes] = self.process.stdin
        self._output: IO[bytes] = self.process.stdout
        try:
            threading.Thread(target=self._listen, name="kernel compiler", daemon=True).start()
        except RuntimeError:
            self.end()
            raise

    def ask(self, request: bytes, coming: Future[bytes], tries: int) -> None:
        """Send a request; raises OSError or ValueError where the process is gone."""
        self._count += 1
        self._asked[self._count] = (request, coming, tries - 1)
        try:
            write_message(self._input, self._count, request)
        except (OSError, ValueError):
            self.alive = False
            # The thread that listens may have answered for it already.
            if self._asked.pop(self._count, None):
                raise

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (message := read_message(self._output)) is not None:
                number, code = message
                found = self._asked.pop(number, None)
                if found:
                    found[1].set_result(code)
        with _changing:
            self.alive = False
            left = list(self._asked.values())
            self._asked.clear()
        self.end()
        for request, coming, tries in left:
            if tries > 0:
                _send(request, coming, tries)
            else:
                coming.set_result(b"")

    def end(self) -> None:
        """Kill the process and wait for its end; it has no state to save."""
        _close(self._input)
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()


def _path() -> list[str]:
    """The module search path of that process: that of this one, and the folder of this package."""
    here: list[str] = []
    with contextlib.suppress(OSError):
        here = [os.getcwd()]
    known = [place for entry in sys.path for place in ([entry] if entry else here)]
    return [*known, *([] if ROOT in known else [ROOT])]


def _close(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        file.close()


def _end() -> None:
    global _ending
    with _changing:
        _ending = True
    if running is not None and running.alive:
        running.end()


def _forked() -> None:
    """Begin without a compiling process in a fork: it belongs to the parent. Its pipes stay open here, so that it may
    outlive the parent until it is idle."""
    global running, _changing
    _changing, running = threading.Lock(), None


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
