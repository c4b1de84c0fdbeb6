"""The Jupyter server's end of the fork server: a client, and forked kernels as processes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from typing import TextIO

AVAILABLE = sys.platform == "linux" and hasattr(os, "pidfd_open")
"""On other systems a process that has loaded system libraries is not safe to fork."""
ARENAS = {"MALLOC_ARENA_MAX": "2"}
"""Arenas of glibc's heap, by default eight a core: each keeps what its threads have freed. Read at the start of a
process, so kernels have those of the fork server."""


ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Threads of a dense product or factorization, where pages share the cores: 30 pages with a thread on each core wait
for each other. Opening lesson 4 by three took 18.6 s of the cores with two threads a page, and 6.1 s with one."""


class ForkServer:
    """A running fork server; `fork` may be called from any thread. Ends with this process or by `close`.

    for_class: many pages share the cores. Each has one thread of BLAS then, and what lessons compute for all alike is
    computed before pages are forked.
    """

    def __init__(self, *, for_class: bool = False) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workbench.extensions.classroom.server.fork_server", *["class"] * for_class],
                stdin=theirs.fileno(),
                env=ARENAS | (ONE_THREAD if for_class else {}) | os.environ,
            )
        self._lines: TextIO = ours.makefile("rw")
        ours.close()
        self._asking = threading.Lock()

    def fork(self, arguments: list[str], env: dict[str, str], cwd: str) -> ForkedProcess:
        """A kernel with these command-line arguments. Waits until the server has imported what it shares.

        Raises OSError where the server has ended.
        """
        with self._asking:
            try:
                self._lines.write(json.dumps({"arguments": arguments, "env": env, "cwd": cwd}) + "\n")
                self._lines.flush()
                answer = self._lines.readline()
            except (OSError, ValueError):
                answer = ""
        if not answer:
            raise OSError("the fork server has ended")
        pid = json.loads(answer)["pid"]
        try:
            return ForkedProcess(pid)
        except OSError:
            # The caller starts another kernel in its place.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise

    def close(self) -> None:
        """End the server; its kernels end with it."""
        # A reader that waits for an answer holds the socket until the server has ended.
        self.process.terminate()
        self.process.wait()
        with contextlib.suppress(OSError):
            self._lines.close()


class ForkedProcess:
    """A process that is no child of this one, with the methods of `subprocess.Popen` that Jupyter uses.

    Its exit status goes to its parent, so -1 stands for any.
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle: int | None = None
        with contextlib.suppress(ProcessLookupError):
            self._handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        return self._ended(0)

    def wait(self) -> int:
        """Wait for its end."""
        return self._ended(None) or -1

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def _ended(self, timeout: float | None) -> int | None:
        if self._handle is not None:
            # With select.select handles beyond 1023 are errors, and a class opens more.
            watched = select.poll()
            watched.register(self._handle, select.POLLIN)
            if not watched.poll(None if timeout is None else 1000 * timeout):
                return None
            os.close(self._handle)
            self._handle = None
        return -1
