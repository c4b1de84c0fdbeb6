"""The process among several that ended first."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterable


class EndedFirst:
    """The process of this machine that ended first, as Linux notes it; unknown on other systems, and of other machines.

    mpiexec kills all ranks when one is lost, and names the first one in its list that it then finds ended. It does so
    as soon as the files of the lost one are closed, shortly before that has ended; so on an overloaded machine one that
    mpiexec has killed may be first.
    """

    def __init__(self) -> None:
        self._ended = select.epoll() if hasattr(select, "epoll") and hasattr(os, "pidfd_open") else None
        self._ranks: dict[int, int] = {}

    def watch(self, processes: Iterable[tuple[str, int]]) -> None:
        """Note from now on which of these processes ends. processes: host and number of the process of each rank."""
        for rank, (host, process) in enumerate(processes):
            # A process may have ended, and Linux before 5.3 has no such files.
            with contextlib.suppress(OSError):
                if self._ended is not None and host == socket.gethostname():
                    file = os.pidfd_open(process)
                    self._ranks[file] = rank
                    self._ended.register(file, select.EPOLLIN)

    def rank(self) -> int | None:
        """The rank that ended first, None where that is unknown or all run."""
        # Files are listed in the order in which they became ready.
        ended = self._ended.poll(0, 1) if self._ended is not None and self._ranks else []
        return self._ranks[ended[0][0]] if ended else None

    def close(self) -> None:
        """Watch no process any more."""
        for file in self._ranks:
            os.close(file)
        self._ranks.clear()
        if self._ended is not None:
            self._ended.close()
            self._ended = None
